#pragma once
// The sections of the text report, each with its heading; "" if there is nothing to say.

#include <string>

#include "report/report.hpp"
#include "report/text_style.hpp"

namespace stagecraft {

inline constexpr std::size_t text_columns = 100;

std::string heading_section(const Report& report, const TextStyle& style);
std::string figures_section(const Report& report, const TextStyle& style);
std::string training_section(const Report& report, const TextStyle& style);
std::string published_section(const Report& report, const TextStyle& style);
std::string breakdown_section(const Report& report, const TextStyle& style);
std::string memory_section(const Report& report, const TextStyle& style);
std::string defaults_section(const Report& report, const TextStyle& style);
std::string calibration_section(const Report& report, const TextStyle& style);
std::string findings_section(const Report& report, const TextStyle& style);

}  // namespace stagecraft
