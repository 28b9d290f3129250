#include "cost/straggler.hpp"

#include <cmath>

namespace stagecraft {

double expected_maximum(double n) {
  if (!(n > 1)) return 0;
  const double tail = -std::expm1(std::log(0.5264) / n);  // 1 - 0.5264^(1/n)
  double low = 0, high = 40;
  constexpr double root_half = 0.70710678118654752;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(middle * root_half) > tail ? low : high) = middle;
  }
  return low;
}

}  // namespace stagecraft
