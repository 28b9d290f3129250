#include "trace/kineto.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/input_error.hpp"
#include "trace/chrome_json_reader.hpp"

namespace stagecraft {
namespace {

constexpr std::string_view action_prefix = "PP:", step_prefix = "ProfilerStep#";
constexpr std::size_t most_labels = 65'535;

struct Stretch {
  double begin = 0, end = 0;
};

/// Length of the union of stretches sorted by begin.
double covered(const std::vector<Stretch>& stretches) {
  double sum = 0, until = -1e300;
  for (const Stretch& s : stretches) {
    sum += std::max(0.0, s.end - std::max(s.begin, until));
    until = std::max(until, s.end);
  }
  return sum;
}

}  // namespace

bool KinetoBuilder::add(const ChromeEvent& event) {
  if (event.phase != 'X' || !event.op.empty()) return false;
  const bool kernel = event.category == "kernel" || event.category == "gpu_memcpy" || event.category == "gpu_memset";
  const bool action = event.name.starts_with(action_prefix), step = event.name.starts_with(step_prefix);
  if (!kernel && !action && !step) return false;
  if (!std::isfinite(event.ts_us) || !std::isfinite(event.dur_us) || event.dur_us < 0) return true;
  const double begin = event.ts_us, end = event.ts_us + event.dur_us;
  const bool on_gpu = event.category == "gpu_user_annotation";
  if (kernel) {
    const auto [entry, added] = names_.try_emplace(event.name, static_cast<std::uint32_t>(names_.size()));
    kernels_.push_back({begin, end, entry->second, event.name.starts_with("nccl")});
  } else if (step) {
    if (!on_gpu) steps_.push_back(begin);
  } else if (const auto op = parse_op_name(std::string_view(event.name).substr(action_prefix.size()))) {
    (on_gpu ? on_gpu_ : on_cpu_).push_back({begin, end, *op});
  } else {
    ++unknown_actions_;
  }
  return true;
}

std::uint8_t KinetoBuilder::step_of(double begin_us) const {
  const auto later = std::upper_bound(steps_.begin(), steps_.end(), begin_us);
  const auto index = later - steps_.begin();
  return static_cast<std::uint8_t>(std::clamp<std::ptrdiff_t>(index - 1, 0, 255));
}

/// Kernels that begin within a range are its segments; communication that no other kernel hides is exposed.
void KinetoBuilder::add_kernels(Trace& trace, const Range& range, const Span& whole) {
  const auto begin = std::lower_bound(kernels_.begin(), kernels_.end(), range.begin_us,
                                      [](const Kernel& kernel, double time) { return kernel.begin_us < time; });
  std::vector<Stretch> all, computing;
  Span segment = whole;
  segment.segment = 0;
  for (auto kernel = begin; kernel != kernels_.end() && kernel->begin_us < range.end_us; ++kernel) {
    const Stretch inside{kernel->begin_us, std::min(kernel->end_us, range.end_us)};
    all.push_back(inside);
    if (!kernel->communicates) computing.push_back(inside);
    segment.begin_s = inside.begin * 1e-6;
    segment.end_s = inside.end * 1e-6;
    segment.tensor_s = kernel->communicates ? segment.end_s - segment.begin_s : 0;
    segment.label = kernel->name < most_labels ? static_cast<std::uint16_t>(kernel->name + 1) : std::uint16_t{0};
    trace.spans.push_back(segment);
    ++segment.segment;
    ++used_kernels_;
  }
  const double exposed_us = covered(all) - covered(computing);
  if (is_compute(whole.kind) && exposed_us > 0) {
    trace.spans[trace.spans.size() - 1 - all.size()].tensor_s = exposed_us * 1e-6;
  }
}

Trace KinetoBuilder::finish(const std::string& path, const ChromeFile& file) {
  std::vector<Range>& ranges = on_gpu_.empty() ? on_cpu_ : on_gpu_;
  if (ranges.empty()) {
    throw InputError(InputProblem{
        path, 0, 0, "/traceEvents", fmt::format("no operations of a pipeline, {} kernels", kernels_.size()),
        "slices by stagecraft, or ranges named \"PP:2F0\" as PyTorch's pipeline runtime writes", ""});
  }
  const auto by_begin = [](const auto& a, const auto& b) { return a.begin_us < b.begin_us; };
  std::stable_sort(ranges.begin(), ranges.end(), by_begin);
  std::stable_sort(kernels_.begin(), kernels_.end(), by_begin);
  std::sort(steps_.begin(), steps_.end());
  const double origin = ranges.front().begin_us;
  Trace trace;
  trace.producer = "PyTorch profiler";
  trace.kind = "measured";
  trace.labels.assign(std::min(names_.size(), most_labels) + 1, "");
  for (const auto& [name, index] : names_) {
    if (index < most_labels) trace.labels[index + 1] = name;
  }
  const auto rank = static_cast<std::int32_t>(std::clamp<std::int64_t>(file.rank, 0, 100'000'000));
  trace.ranks = {{rank, rank, 0, 1}};
  for (const Range& range : ranges) {
    Span span;
    span.rank = rank;
    span.kind = range.op.kind;
    span.lane = usual_lane(span.kind);
    span.stage = range.op.stage.value;
    span.micro_batch = range.op.micro_batch.value;
    span.step = step_of(range.begin_us);
    span.begin_s = range.begin_us * 1e-6;
    span.end_s = range.end_us * 1e-6;
    trace.spans.push_back(span);
    add_kernels(trace, range, span);
  }
  for (Span& span : trace.spans) {
    span.begin_s = std::max(0.0, span.begin_s - origin * 1e-6);
    span.end_s = std::max(span.begin_s, span.end_s - origin * 1e-6);
    trace.steps = std::max(trace.steps, span.step + 1);
  }
  trace.step_end_s.assign(static_cast<std::size_t>(trace.steps), 0);
  for (const Span& span : trace.spans) {
    trace.step_end_s[span.step] = std::max(trace.step_end_s[span.step], span.end_s);
  }
  for (std::size_t i = 1; i < trace.step_end_s.size(); ++i) {
    trace.step_end_s[i] = std::max(trace.step_end_s[i], trace.step_end_s[i - 1]);
  }
  trace.end_s = trace.step_end_s.back();
  trace.provenance.push_back(
      {"kernels outside of operations", std::to_string(kernels_.size() - std::min(used_kernels_, kernels_.size()))});
  const auto since_base = static_cast<std::int64_t>(std::clamp(origin * 1e3, -4e18, 4e18));
  const std::int64_t base = std::clamp<std::int64_t>(file.base_ns, 0, 4'000'000'000'000'000'000);
  trace.provenance.push_back({clock_begin_key, std::to_string(base + since_base)});
  if (unknown_actions_ > 0) trace.provenance.push_back({"actions of unknown kind", std::to_string(unknown_actions_)});
  sort_spans(trace);
  return trace;
}

}  // namespace stagecraft
