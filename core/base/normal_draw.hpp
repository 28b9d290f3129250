#pragma once
// Draws that are the same on every machine: the standard library's distributions differ between implementations.

#include <random>

namespace stagecraft {

/// A draw of the standard normal distribution by Box and Muller.
double normal_draw(std::mt19937_64& generator);

}  // namespace stagecraft
