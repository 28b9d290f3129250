#include "exec/model/parameter.hpp"

#include <cmath>
#include <numbers>

namespace stagecraft {

namespace {

/// Standard normal deviate number n of a stream: Box-Muller on two words.
double normal_deviate(std::uint64_t stream, std::uint64_t n) {
  constexpr double scale = 0x1p-53;
  const double u = (static_cast<double>(random_word(stream, 2 * n) >> 11) + 0.5) * scale;
  const double v = static_cast<double>(random_word(stream, 2 * n + 1) >> 11) * scale;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

void fill_piece(const ParameterPiece& piece, const Parameter& parameter, std::uint64_t seed, double* into) {
  const std::uint64_t stream = name_hash(piece.name) ^ (seed * 0x9E3779B97F4A7C15ULL);
  for (std::int64_t row = 0; row < piece.rows; ++row) {
    double* const line = into + (piece.local_row + row) * parameter.columns;
    const std::int64_t first = (piece.row_begin + row) * piece.global_columns + piece.column_begin;
    for (std::int64_t column = 0; column < piece.columns; ++column) {
      line[column] = parameter.deviation == 0
                         ? parameter.mean
                         : parameter.mean +
                               parameter.deviation * normal_deviate(stream, static_cast<std::uint64_t>(first + column));
    }
  }
}

}  // namespace

std::uint64_t name_hash(const std::string& name) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  return hash;
}

std::uint64_t random_word(std::uint64_t stream, std::uint64_t n) {
  std::uint64_t z = stream + (n + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

void fill_initial(const Parameter& parameter, std::uint64_t seed, const at::Tensor& into) {
  const at::Tensor values = at::zeros({parameter.rows, parameter.columns}, at::TensorOptions().dtype(at::kDouble));
  for (const ParameterPiece& piece : parameter.pieces)
    fill_piece(piece, parameter, seed, values.mutable_data_ptr<double>());
  into.view({parameter.rows, parameter.columns}).copy_(values);
}

}  // namespace stagecraft
