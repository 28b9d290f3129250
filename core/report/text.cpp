#include "report/formats.hpp"
#include "report/text_sections.hpp"

namespace stagecraft {

std::string to_text(const Report& report, bool colour) {
  const TextStyle style{colour};
  std::string out = heading_section(report, style);
  for (const auto section : {figures_section, training_section, published_section, breakdown_section, memory_section,
                             findings_section, calibration_section, defaults_section}) {
    const std::string text = section(report, style);
    if (!text.empty()) out.append("\n").append(text);
  }
  return out;
}

}  // namespace stagecraft
