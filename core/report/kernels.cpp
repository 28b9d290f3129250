#include "report/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "report/layer_names.hpp"
#include "report/number_text.hpp"

namespace stagecraft {
namespace {

const char* pass_text(OpKind kind) {
  switch (kind) {
    case OpKind::forward:
      return "forward";
    case OpKind::backward:
      return "backward";
    case OpKind::input_grad:
      return "input gradient";
    case OpKind::weight_grad:
      return "weight gradient";
    case OpKind::recompute:
      return "recomputation";
    default:
      return "optimizer step";
  }
}

const char* kind_text(const Segment& segment) {
  if (segment.is_collective) return to_text(segment.collective.kind);
  switch (segment.kernel.kind) {
    case KernelKind::gemm:
      return "gemm";
    case KernelKind::attention:
      return "attention";
    case KernelKind::memory:
      return "memory";
    case KernelKind::host:
    case KernelKind::host_adam:
    case KernelKind::loading:
    case KernelKind::host_sync:
    case KernelKind::collection:
      break;
  }
  return "host";
}

bool is_product(const Segment& segment) {
  return !segment.is_collective &&
         (segment.kernel.kind == KernelKind::gemm || segment.kernel.kind == KernelKind::attention);
}

bool same_shape(const Segment& a, const Segment& b) {
  if (a.is_collective) return a.collective.bytes.value == b.collective.bytes.value;
  const Kernel& x = a.kernel;
  const Kernel& y = b.kernel;
  return x.batch == y.batch && x.m == y.m && x.n == y.n && x.k == y.k && x.bytes.value == y.bytes.value;
}

/// Times that the rank runs each body in a step, by the kind of the operations.
std::map<std::pair<OpKind, BodyId>, double> runs_of(const Schedule& schedule, PipelineRank rank) {
  std::map<std::pair<OpKind, BodyId>, double> runs;
  for (const Op& op : schedule.programs[rank.index()]) {
    if (op.body.valid()) ++runs[{op.kind, op.body}];
  }
  return runs;
}

void add_call(std::vector<KernelLine>& lines, std::map<std::string_view, std::size_t>& places, OpKind pass,
              const Segment& segment, Seconds time, double calls) {
  const auto [at, is_new] = places.try_emplace(segment.name, lines.size());
  if (is_new) lines.push_back({pass, segment, true, 0, {}, {}, {}});
  KernelLine& line = lines[at->second];
  line.alike = line.alike && same_shape(line.segment, segment);
  line.calls += calls;
  line.time += time * calls;
  line.flops += (segment.is_collective ? Flops{} : segment.kernel.flops) * calls;
  line.bytes += (segment.is_collective ? segment.collective.bytes : segment.kernel.bytes) * calls;
}

double sum_s(const std::vector<KernelLine>& lines) {
  double sum = 0;
  for (const KernelLine& line : lines) sum += line.time.value;
  return sum;
}

double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::string shape_text(const KernelLine& line) {
  const Kernel& kernel = line.segment.kernel;
  if (!line.alike || kernel.m == 0) return "";
  const std::string batch = kernel.batch > 1 ? fmt::format("{} of ", kernel.batch) : "";
  return fmt::format("; {}{} x {} x {}", batch, kernel.m, kernel.n, kernel.k);
}

/// What the line reaches beside what the GPU could.
std::string rate_text(const KernelLine& line, const Plan& plan, const GpuSpec& gpu) {
  const Segment& segment = line.segment;
  const double seconds = line.time.value;
  if (segment.is_collective) {
    const Axis axis = segment.collective.group;
    const bool copies = is_host_copy(segment.collective.kind);
    const std::string over =
        copies ? "" : fmt::format(" over {} {} ranks", group_size(plan.degrees, axis), to_text(axis));
    const std::string hidden = seconds > 0 ? "" : ", hidden behind kernels";
    return fmt::format("{}{}, {}{}{}", kind_text(segment), over, line.alike ? "" : "mean ",
                       to_text(Bytes{line.bytes.value / line.calls}), hidden);
  }
  if (seconds <= 0) return "";
  if (is_product(segment)) {
    const double rate = line.flops.value / seconds;
    const double peak = peak_of(gpu, segment.kernel.dtype);
    const std::string of_peak =
        peak > 0 ? fmt::format(", {} of {} peak", percent(rate / peak), to_text(segment.kernel.dtype)) : "";
    return fmt::format("{}{}{}", to_text(FlopsPerSecond{rate}), of_peak, shape_text(line));
  }
  if (segment.kernel.kind != KernelKind::memory || line.bytes.value <= 0) return kind_text(segment);
  const double rate = line.bytes.value / seconds;
  return fmt::format("{}, {} of memory", to_text(BytesPerSecond{rate}), percent(rate / gpu.memory_bandwidth.value));
}

std::string pass_rows(const std::vector<KernelLine>& lines, OpKind pass, double all_s, const Plan& plan,
                      const GpuSpec& gpu) {
  std::string rows;
  double of_pass = 0;
  for (const KernelLine& line : lines) {
    if (line.pass != pass) continue;
    of_pass += line.time.value;
    rows += fmt::format("  {:<32}{:>8}{}{}{}  {}\n", line.segment.name, grouped(line.calls),
                        right_aligned(duration(line.time.value / line.calls), 11),
                        right_aligned(duration(line.time.value), 11),
                        right_aligned(percent(share_of(line.time.value, all_s)), 9), rate_text(line, plan, gpu));
  }
  if (rows.empty()) return "";
  return fmt::format("\n{:<34}{:>19}{}{}\n", pass_text(pass), "", right_aligned(duration(of_pass), 11),
                     right_aligned(percent(share_of(of_pass, all_s)), 9)) +
         rows;
}

std::vector<std::int32_t> stages_of(const Schedule& schedule, PipelineRank rank) {
  std::vector<std::int32_t> stages;
  for (std::int32_t s = 0; s < stage_count(schedule); ++s) {
    for (std::size_t replica = 0; replica < schedule.placement.size(); ++replica) {
      if (rank_of(schedule, Stage(s), static_cast<std::uint8_t>(replica)) == rank) {
        stages.push_back(s);
        break;
      }
    }
  }
  return stages;
}

}  // namespace

std::vector<KernelLine> kernel_lines(const Schedule& schedule, const RankTimes& times, PipelineRank rank) {
  const std::vector<BodyTime>& of_body = times.at(rank);
  std::vector<KernelLine> lines;
  std::map<OpKind, std::map<std::string_view, std::size_t>> places;
  for (const auto& [run, count] : runs_of(schedule, rank)) {
    const auto& [pass, id] = run;
    const Body& body = schedule.bodies.bodies[id.index()];
    for (std::size_t p = 0; p < body.parts.size(); ++p) {
      const BodyPart& part = body.parts[p];
      for (std::size_t i = 0; i < part.segments.size(); ++i) {
        add_call(lines, places[pass], pass, part.segments[i], of_body[id.index()].segments[p][i].time,
                 count * part.repeat);
      }
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [](const KernelLine& a, const KernelLine& b) {
    return a.pass != b.pass ? a.pass < b.pass : a.time.value > b.time.value;
  });
  return lines;
}

PipelineRank busiest_rank(const Schedule& schedule, const RankTimes& times) {
  std::size_t busiest = 0;
  double most_s = -1;
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const double seconds = sum_s(kernel_lines(schedule, times, PipelineRank(r)));
    if (seconds > most_s) {
      busiest = r;
      most_s = seconds;
    }
  }
  return PipelineRank(busiest);
}

std::string explain_kernels(const Plan& plan, const Schedule& schedule, const RankTimes& times, PipelineRank rank) {
  const std::vector<KernelLine> lines = kernel_lines(schedule, times, rank);
  const GpuSpec& gpu = gpu_spec_of(plan, representative(plan, rank));
  const double all_s = sum_s(lines);
  std::string text = fmt::format("pipeline rank {}: {}\n", rank.value, layer_names(plan, stages_of(schedule, rank)));
  text +=
      "Of its operations, in closed form. A collective counts with what no kernel hides. Messages between stages,\n"
      "reductions of gradients and gathers of parameters are operations of their own: not in this table.\n\n";
  text += fmt::format("{:<34}{:>8}{:>11}{:>11}{:>9}  {}\n", "kernel", "calls", "each", "a step", "share", "reaches");
  text += fmt::format("{:<34}{:>19}{}{}\n", "all", "", right_aligned(duration(all_s), 11),
                      right_aligned(percent(all_s > 0 ? 1 : 0), 9));
  for (std::size_t kind = 0; kind < op_kind_count; ++kind) {
    text += pass_rows(lines, static_cast<OpKind>(kind), all_s, plan, gpu);
  }
  return text;
}

std::string kernels_csv(const Plan& plan, const Schedule& schedule, const RankTimes& times, PipelineRank rank) {
  const std::vector<KernelLine> lines = kernel_lines(schedule, times, rank);
  const double all_s = sum_s(lines);
  std::string csv =
      "pipeline_rank,pass,kernel,kind,calls,time_s,share,flops,bytes,dtype,batch,m,n,k,group,group_ranks\n";
  for (const KernelLine& line : lines) {
    const Segment& segment = line.segment;
    csv +=
        fmt::format("{},{},{},{},{},{},{},{},{},", rank.value, word_of(line.pass), segment.name, kind_text(segment),
                    line.calls, line.time.value, share_of(line.time.value, all_s), line.flops.value, line.bytes.value);
    const Kernel& kernel = segment.kernel;
    csv += segment.is_collective ? "," : to_text(kernel.dtype) + ",";
    csv += is_product(segment) && line.alike && kernel.m > 0
               ? fmt::format("{},{},{},{},", kernel.batch, kernel.m, kernel.n, kernel.k)
               : ",,,,";
    csv += segment.is_collective ? fmt::format("{},{}\n", to_text(segment.collective.group),
                                               group_size(plan.degrees, segment.collective.group))
                                 : ",\n";
  }
  return csv;
}

}  // namespace stagecraft
