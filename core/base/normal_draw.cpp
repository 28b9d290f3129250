#include "base/normal_draw.hpp"

#include <cmath>
#include <numbers>

namespace stagecraft {

double normal_draw(std::mt19937_64& generator) {
  constexpr double scale = 1.0 / 9007199254740992.0;  // 2^-53
  const double radius = (static_cast<double>(generator() >> 11U) + 1) * scale;
  const double angle = static_cast<double>(generator() >> 11U) * scale;
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * std::numbers::pi * angle);
}

}  // namespace stagecraft
