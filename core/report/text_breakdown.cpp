#include <fmt/core.h>

#include "report/number_text.hpp"
#include "report/text_sections.hpp"

namespace stagecraft {
namespace {

constexpr int bar_columns = 20;

const char* colour_of(TimeClass time_class) {
  switch (time_class) {
    case TimeClass::forward:
      return "34";
    case TimeClass::backward:
      return "33";
    case TimeClass::recompute:
      return "36";
    case TimeClass::optimizer:
      return "32";
    case TimeClass::tensor_communication:
    case TimeClass::context_communication:
    case TimeClass::expert_communication:
    case TimeClass::host_copies:
    case TimeClass::pipeline_communication:
    case TimeClass::data_communication:
      return "35";
    default:
      return "90";
  }
}

/// What of the above goes to none of the model's own work; lines under a tenth of a per mille are left out.
std::string costs_lines(const Report& report, double mean, const TextStyle& style) {
  std::string lines;
  for (const StepCostLine& line : step_cost_lines) {
    const double seconds = report.costs.*line.seconds;
    if (seconds < 1e-4 * mean) continue;
    lines += fmt::format("  {}{:>10}{:>10}\n", padded(line.text, 76), percent(seconds / mean), duration(seconds));
  }
  return lines.empty() ? lines : style.faint("  of which, inside the operations above\n") + lines;
}

}  // namespace

std::string breakdown_section(const Report& report, const TextStyle& style) {
  const double path = total(report.critical_path), mean = total(report.breakdown);
  if (path <= 0 || mean <= 0) return "";
  std::string out = style.bold("Where the step goes") + "\n";
  out += style.faint(fmt::format("  {:<58}{:>18}{:>20}\n", "", "critical path", "mean over GPUs"));
  for (std::size_t i = 0; i < time_class_count; ++i) {
    const auto time_class = static_cast<TimeClass>(i);
    const double on_path = report.critical_path[i] / path, on_mean = report.breakdown[i] / mean;
    if (on_path < 5e-5 && on_mean < 5e-5) continue;
    out += fmt::format("  {}{}{:>8}{:>10}{:>10}{:>10}\n", padded(to_text(time_class), 38),
                       style.of_code(colour_of(time_class), padded(bar(on_path, bar_columns), bar_columns)),
                       percent(on_path), duration(report.critical_path[i]), percent(on_mean),
                       duration(report.breakdown[i]));
  }
  return out + costs_lines(report, mean, style);
}

}  // namespace stagecraft
