#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "report/number_text.hpp"
#include "report/text_sections.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t most_rows = 16;
constexpr std::array<const char*, memory_class_count> short_names = {"params", "grads", "optim", "activ",
                                                                     "logits", "comm",  "fixed"};

/// All stages, or where there are many the fullest ones.
std::vector<std::size_t> shown(const Report& report) {
  std::vector<std::size_t> rows(report.stages.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (rows.size() <= most_rows) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return report.stages[a].peak_memory_bytes.value > report.stages[b].peak_memory_bytes.value;
  });
  rows.resize(most_rows);
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

std::string memory_section(const Report& report, const TextStyle& style) {
  std::string out = style.bold("Memory at the peak of each pipeline rank, GiB") +
                    style.faint(fmt::format(" (limit {:.1f})\n", report.memory_limit_bytes / 1073741824.0));
  std::string head = fmt::format("  {:>4} {:>7}  {:<9}", "rank", "peak", "");
  for (const char* name : short_names) head += fmt::format("{:>7}", name);
  out += style.faint(head + "  most       at        \n");
  const std::vector<std::size_t> rows = shown(report);
  for (const std::size_t i : rows) {
    const ReportStage& stage = report.stages[i];
    const std::string filled = padded(bar(stage.peak_memory_bytes.value / report.memory_limit_bytes, 8), 9);
    out += fmt::format("  {:>4} {:>7.2f}  {}", stage.pipeline_rank, stage.peak_memory_bytes.value / 1073741824.0,
                       stage.fits ? style.green(filled) : style.red(filled));
    for (const Bytes& bytes : stage.memory) out += fmt::format(" {:>6.2f}", bytes.value / 1073741824.0);
    const auto dominating = static_cast<std::size_t>(stage.dominating);
    out += fmt::format("  {:<9}  {}{}\n", short_names[dominating], stage.peak_op,
                       stage.fits ? "" : style.red("  over the limit"));
  }
  if (rows.size() < report.stages.size()) {
    out += style.faint(
        fmt::format("  ... and {} more, none fuller (--format csv lists all)\n", report.stages.size() - rows.size()));
  }
  return out;
}

}  // namespace stagecraft
