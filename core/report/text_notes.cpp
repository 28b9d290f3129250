#include <fmt/core.h>

#include "report/number_text.hpp"
#include "report/text_sections.hpp"

namespace stagecraft {
namespace {

std::string item(const std::string& text) {
  return fmt::format("  - {}\n", wrapped(text, text_columns - 4, 4));
}

}  // namespace

std::string defaults_section(const Report& report, const TextStyle& style) {
  if (report.defaults.empty()) return "";
  std::string out = style.bold("Chosen because the scenario does not say") + "\n";
  for (const ChosenDefault& chosen : report.defaults) {
    const std::string setting = fmt::format("{} = {}", chosen.pointer, chosen.value);
    out += fmt::format("  {} {}\n", padded(setting, 38), style.faint(wrapped(chosen.reason, text_columns - 41, 41)));
  }
  return out;
}

std::string calibration_section(const Report& report, const TextStyle& style) {
  std::size_t measured = 0, fitted = 0, borrowed = 0;
  for (const ConstantLine& entry : report.constants) {
    const Evidence evidence = entry.constant.evidence;
    ++(evidence == Evidence::measured ? measured : evidence == Evidence::fitted ? fitted : borrowed);
  }
  std::string out = style.bold("Calibration") + " " + report.calibration + "\n";
  out += fmt::format("  hardware {}, software {}; {} constants: {} measured, {} fitted, {} borrowed\n",
                     report.calibration_hardware, report.calibration_software, report.constants.size(), measured,
                     fitted, borrowed);
  for (const std::string& note : report.calibration_notes) out += item(note);
  if (!report.outside_measured_range.empty()) {
    out += style.yellow("  outside its measured range:") + "\n";
    for (const std::string& line : report.outside_measured_range) out += item(line);
  }
  return out;
}

std::string findings_section(const Report& report, const TextStyle& style) {
  if (report.findings.empty()) return "";
  std::string out = style.bold("Findings") + "\n";
  for (const Finding& finding : report.findings) out += item(to_text(finding));
  return out;
}

}  // namespace stagecraft
