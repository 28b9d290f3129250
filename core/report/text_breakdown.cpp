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
  return out;
}

}  // namespace stagecraft
