#include "base/number_text.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace stagecraft {

std::string refuse_number(const std::string& text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && end == text.c_str() + text.size();
  // Written so that "nan" fails.
  if (whole && value >= least && value <= most) return {};
  return fmt::format("got {}, expected a number from {:g} to {:g}", text, least, most);
}

}  // namespace stagecraft
