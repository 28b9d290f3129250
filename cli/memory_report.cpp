#include "memory_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/number_text.hpp"

namespace stagecraft::cli {
namespace {

double gib(Bytes bytes) {
  return bytes.value / 1073741824.0;
}

/// "3-6, 8"
std::string ranges(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string table(const MemoryFindings& found) {
  std::string out = fmt::format("{}: each pipeline rank at its peak, GiB (usable {:.2f})\n  {:>4} {:>8}",
                                found.scenario, gib(found.peaks.front().limit), "rank", "peak");
  for (std::size_t c = 0; c < memory_class_count; ++c) {
    out += fmt::format(" {:>16}", to_text(static_cast<MemoryClass>(c)));
  }
  out += "  at\n";
  constexpr std::size_t most = 32;
  for (std::size_t r = 0; r < found.peaks.size(); ++r) {
    if (found.peaks.size() > most && r >= most && r != found.fullest) continue;
    out += fmt::format("  {:>4} {:>8.2f}", r, gib(found.peaks[r].peak));
    for (const Bytes bytes : found.peaks[r].at_peak) out += fmt::format(" {:>16.2f}", gib(bytes));
    out += fmt::format("  {}{}\n", to_text(found.peak_ops[r]), fits(found.peaks[r]) ? "" : "  over the limit");
  }
  if (found.peaks.size() > most)
    out += fmt::format("  ... {} ranks in all; --format json lists them\n", found.peaks.size());
  return out;
}

std::string fullest_text(const MemoryFindings& found) {
  const MemoryPeak& peak = found.peaks[found.fullest];
  // 7 of the 11 published runs of which this holds ran out of memory.
  const bool barely = fits(peak) && found.verdict == FitVerdict::does_not_fit;
  std::string out =
      fmt::format("\nRank {} needs {:.2f} of {:.2f} GiB: {}{}\n", found.fullest, gib(peak.peak), gib(peak.limit),
                  fits(peak) ? "fits" : "does not fit",
                  barely ? " by its tensors alone; with what the allocator usually wants it is likely to run out"
                  : found.verdict == FitVerdict::close ? ", close to the limit with what the allocator usually wants"
                                                       : "");
  out += fmt::format("  allocated {:>8.2f} GiB  torch.cuda.max_memory_allocated\n", gib(found.view.allocated));
  out += fmt::format("  reserved  {:>8.2f} GiB  torch.cuda.max_memory_reserved\n", gib(found.view.reserved));
  out += fmt::format("  device    {:>8.2f} GiB  nvidia-smi: reserved, context and NCCL\n", gib(found.view.device));
  if (found.view.retries) {
    out +=
        "  warning: the allocator would usually reserve more than there is; it then frees its cache and asks again,\n"
        "  which stalls the GPU. expandable_segments=true needs less.\n";
  }
  return out;
}

std::string explanation_text(const MemoryFindings& found) {
  const PeakExplanation& peak = found.explanation;
  std::string out = fmt::format("\nAt its peak {} runs; between forward and backward are\n", to_text(peak.op));
  for (const LiveMicroBatches& live : peak.live) {
    out += fmt::format("  stage {:>4}: {} micro-batches ({})\n", live.stage.value, live.micro_batches.size(),
                       ranges(live.micro_batches));
  }
  out += fmt::format("  {:<40} {:>8} {:>9}\n", "tensor", "count", "GiB");
  constexpr std::size_t most = 16;
  for (std::size_t i = 0; i < peak.tensors.size() && i < most; ++i) {
    out += fmt::format("  {:<40} {:>8.0f} {:>9.3f}\n", peak.tensors[i].name, peak.tensors[i].count,
                       gib(peak.tensors[i].bytes));
  }
  out += fmt::format("  {:<40} {:>8} {:>9.3f}\n", "working set of the operation", "", gib(peak.working_set));
  if (peak.fails_at) out += fmt::format("Memory runs out with {}\n", peak.failing_allocation);
  return out;
}

std::string lines_text(const MemoryFindings& found) {
  std::string out = "\nPaid once per rank\n";
  for (const FixedLine& line : found.fixed) {
    out += fmt::format("  {:<44} {:>8.3f} GiB  {}\n", line.name, gib(line.bytes), line.source);
  }
  if (found.host.host.value > 0 || found.host.nvme.value > 0) {
    out += fmt::format("Fullest node: {:.1f} of {:.1f} GiB host memory, {:.1f} of {:.1f} GiB NVMe: {}\n",
                       gib(found.host.host), gib(found.host.host_limit), gib(found.host.nvme),
                       gib(found.host.nvme_limit), found.host.fits() ? "fits" : "does not fit");
  }
  return out;
}

Bytes predicted_of(const AllocatorView& view, const std::string& kind) {
  return kind == "allocated" ? view.allocated : kind == "reserved" ? view.reserved : view.device;
}

std::string measured_text(const MemoryFindings& found) {
  std::string out;
  for (const MeasuredMemory& measured : found.measured) {
    const Bytes predicted = predicted_of(found.view, measured.kind);
    out += fmt::format("\nMeasured {} {:.2f} GiB, predicted {:.2f}: unexplained {:+.2f} GiB ({:+.1f} %)\n",
                       measured.kind, gib(measured.bytes), gib(predicted), gib(measured.bytes - predicted),
                       100 * (measured.bytes / predicted - 1));
  }
  return out;
}

std::string joined(const std::vector<std::string>& overrides) {
  std::string text;
  for (const std::string& override_ : overrides) text += (text.empty() ? "--set " : " --set ") + override_;
  return text;
}

std::string advice_text(const MemoryFindings& found) {
  if (found.fits) return "";
  if (found.advice.empty()) return "\nNo single change that was tried makes it fit.\n";
  std::string out = "\nSingle changes that make it fit, each tried; step time in closed form\n";
  for (const Advice& advice : found.advice) {
    out += fmt::format("  {:>8.2f} GiB  {:>9} {:>8}  {}\n", gib(advice.peak), duration(advice.step_s),
                       signed_percent(advice.slowdown), joined(advice.overrides));
  }
  return out;
}

using Json = nlohmann::ordered_json;

Json by_class(const MemoryByClass& bytes) {
  Json json;
  for (std::size_t c = 0; c < memory_class_count; ++c) json[to_text(static_cast<MemoryClass>(c))] = bytes[c].value;
  return json;
}

/// "does not fit" is of the tensors; with what the allocator usually wants a run may be likely to run out all the same.
const char* verdict_text(const MemoryFindings& found) {
  if (!found.fits) return to_text(FitVerdict::does_not_fit);
  return found.verdict == FitVerdict::does_not_fit ? "likely to run out" : to_text(found.verdict);
}

}  // namespace

std::string memory_text(const MemoryFindings& found) {
  std::string out;
  for (const Finding& finding : found.findings) out += to_text(finding) + "\n";
  return out + table(found) + fullest_text(found) + explanation_text(found) + lines_text(found) + measured_text(found) +
         advice_text(found);
}

std::string memory_json(const MemoryFindings& found) {
  Json root = {{"version", 1},
               {"scenario", found.scenario},
               {"fits", found.fits},
               {"verdict", verdict_text(found)},
               {"limit_bytes", found.peaks[found.fullest].limit.value},
               {"fullest_rank", found.fullest},
               {"allocated_bytes", found.view.allocated.value},
               {"reserved_bytes", found.view.reserved.value},
               {"device_bytes", found.view.device.value},
               {"allocator_retries", found.view.retries},
               {"host_bytes", found.host.host.value},
               {"nvme_bytes", found.host.nvme.value}};
  for (std::size_t r = 0; r < found.peaks.size(); ++r) {
    root["ranks"].push_back({{"rank", r},
                             {"peak_bytes", found.peaks[r].peak.value},
                             {"at", to_text(found.peak_ops[r])},
                             {"bytes", by_class(found.peaks[r].at_peak)}});
  }
  for (const PeakTensor& tensor : found.explanation.tensors) {
    root["tensors"].push_back({{"name", tensor.name},
                               {"class", to_text(tensor.memory_class)},
                               {"count", tensor.count},
                               {"bytes", tensor.bytes.value}});
  }
  root["working_set_bytes"] = found.explanation.working_set.value;
  if (found.explanation.fails_at) root["failing_allocation"] = found.explanation.failing_allocation;
  for (const FixedLine& line : found.fixed) {
    root["fixed"].push_back({{"name", line.name}, {"bytes", line.bytes.value}, {"source", line.source}});
  }
  for (const MeasuredMemory& measured : found.measured) {
    const Bytes predicted = predicted_of(found.view, measured.kind);
    root["measured"].push_back({{"kind", measured.kind},
                                {"bytes", measured.bytes.value},
                                {"unexplained_bytes", (measured.bytes - predicted).value}});
  }
  for (const Advice& advice : found.advice) {
    root["advice"].push_back({{"set", advice.overrides},
                              {"peak_bytes", advice.peak.value},
                              {"step_time_s", advice.step_s},
                              {"slowdown", advice.slowdown}});
  }
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stagecraft::cli
