#include "validate/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace stagecraft {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix gram(const Matrix& rows, const std::vector<std::size_t>& columns) {
  Matrix out(columns.size(), std::vector<double>(columns.size()));
  for (const std::vector<double>& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      for (std::size_t j = 0; j < columns.size(); ++j) out[i][j] += row[columns[i]] * row[columns[j]];
    }
  }
  return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double loss_of(const Matrix& rows, const std::vector<double>& values) {
  double sum = 0;
  for (const std::vector<double>& row : rows) sum += (dot(row, values) - 1) * (dot(row, values) - 1);
  return sum;
}

/// The unknowns of a subset, the others 0; nothing if one of them came out below 0.
std::optional<std::vector<double>> solve(const Matrix& rows, const std::vector<std::size_t>& columns, std::size_t all) {
  const std::optional<Matrix> inverted = inverse(gram(rows, columns));
  if (!inverted) return std::nullopt;
  std::vector<double> sums(columns.size());
  for (const std::vector<double>& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) sums[i] += row[columns[i]];
  }
  std::vector<double> values(all);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    values[columns[i]] = dot((*inverted)[i], sums);
    if (!(values[columns[i]] >= 0)) return std::nullopt;
  }
  return values;
}

std::vector<std::size_t> members(std::size_t subset, std::size_t all) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < all; ++i) {
    if ((subset >> i) % 2 == 1) columns.push_back(i);
  }
  return columns;
}

}  // namespace

double student_t95(double freedom) {
  constexpr double z = 1.6448536269514722;  // of the normal distribution
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  if (freedom < 2) return 6.3137515;  // where the expansion is not good enough
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

std::optional<Matrix> inverse(const Matrix& symmetric) {
  const std::size_t n = symmetric.size();
  std::vector<double> scale(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!(symmetric[i][i] > 0) || !std::isfinite(symmetric[i][i])) return std::nullopt;
    scale[i] = 1 / std::sqrt(symmetric[i][i]);
  }
  Matrix left = symmetric, right(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) left[i][j] *= scale[i] * scale[j];
    right[i][i] = 1;
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t j = i + 1; j < n; ++j) {
      if (std::abs(left[j][i]) > std::abs(left[pivot][i])) pivot = j;
    }
    if (!(std::abs(left[pivot][i]) > 1e-13)) return std::nullopt;
    std::swap(left[i], left[pivot]);
    std::swap(right[i], right[pivot]);
    const double whole = left[i][i];
    for (std::size_t k = 0; k < n; ++k) {
      left[i][k] /= whole;
      right[i][k] /= whole;
    }
    for (std::size_t j = 0; j < n; ++j) {
      const double times = left[j][i];
      if (j == i || times == 0) continue;
      for (std::size_t k = 0; k < n; ++k) {
        left[j][k] -= times * left[i][k];
        right[j][k] -= times * right[i][k];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) right[i][j] *= scale[i] * scale[j];
  }
  return right;
}

std::optional<LinearFit> fit_relative(const Matrix& rows) {
  if (rows.empty()) return std::nullopt;
  const std::size_t all = rows.front().size();
  std::optional<LinearFit> best;
  std::size_t used = 0;
  for (std::size_t subset = (std::size_t{1} << all) - 1; subset > 0; --subset) {
    const std::vector<std::size_t> columns = members(subset, all);
    if (columns.size() > rows.size()) continue;
    const std::optional<std::vector<double>> values = solve(rows, columns, all);
    if (!values) continue;
    const double loss = loss_of(rows, *values);
    if (best && loss >= best->loss) continue;
    best = LinearFit{*values, std::vector<double>(all), loss};
    used = columns.size();
  }
  if (!best || rows.size() <= used) return best;
  const double freedom = static_cast<double>(rows.size() - used);
  // An unknown that came out at 0 has a width too: how far above 0 it might be.
  std::optional<Matrix> spread = inverse(gram(rows, members((std::size_t{1} << all) - 1, all)));
  if (!spread) return best;
  for (std::size_t i = 0; i < all; ++i) {
    best->half_widths[i] = student_t95(freedom) * std::sqrt(std::max(0.0, (*spread)[i][i]) * best->loss / freedom);
  }
  return best;
}

LogFit fit_logarithms(const std::vector<double>& start, const std::vector<double>& most,
                      const std::function<void(const std::vector<double>&, std::vector<double>&)>& residuals) {
  constexpr double step = 1e-4, least_move = 1e-9;
  constexpr int most_rounds = 300;
  const std::size_t n = start.size();
  std::vector<double> here, above, below;
  LogFit fit{start, std::vector<double>(n, std::numeric_limits<double>::infinity()), 0};
  const auto loss_at = [&](const std::vector<double>& values, std::vector<double>& out) {
    residuals(values, out);
    return dot(out, out);
  };
  /// [residual][unknown]: change of a residual by change of the unknown's logarithm.
  const auto slopes = [&] {
    Matrix out(here.size(), std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> values = fit.values;
      values[i] = fit.values[i] * std::exp(step);
      residuals(values, above);
      values[i] = fit.values[i] * std::exp(-step);
      residuals(values, below);
      for (std::size_t row = 0; row < here.size(); ++row) out[row][i] = (above[row] - below[row]) / (2 * step);
    }
    return out;
  };
  const auto moving = [&](const Matrix& slope) {
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (const std::vector<double>& row : slope) sum += row[i] * row[i];
      if (sum > 1e-12 * static_cast<double>(slope.size())) columns.push_back(i);
    }
    return columns;
  };
  fit.loss = loss_at(fit.values, here);
  double damping = 1e-3;
  for (int round = 0; round < most_rounds && damping < 1e9; ++round) {
    const Matrix slope = slopes();
    const std::vector<std::size_t> columns = moving(slope);
    if (columns.empty()) break;
    Matrix normal = gram(slope, columns);
    for (std::size_t i = 0; i < columns.size(); ++i) normal[i][i] *= 1 + damping;
    const std::optional<Matrix> inverted = inverse(normal);
    if (!inverted) {
      damping *= 10;
      continue;
    }
    std::vector<double> pull(columns.size());
    for (std::size_t row = 0; row < slope.size(); ++row) {
      for (std::size_t i = 0; i < columns.size(); ++i) pull[i] -= slope[row][columns[i]] * here[row];
    }
    std::vector<double> values = fit.values;
    double moved = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const double by = std::clamp(dot((*inverted)[i], pull), -1.0, 1.0);
      values[columns[i]] = std::min(values[columns[i]] * std::exp(by), most[columns[i]]);
      moved = std::max(moved, std::abs(by));
    }
    const double loss = loss_at(values, above);
    if (!(loss < fit.loss)) {
      damping *= 10;
      if (moved < least_move) break;
      continue;
    }
    fit.values = std::move(values);
    fit.loss = loss;
    here = above;
    damping = std::max(damping / 10, 1e-12);
  }
  const Matrix slope = slopes();
  const std::vector<std::size_t> columns = moving(slope);
  const std::optional<Matrix> spread = inverse(gram(slope, columns));
  if (!spread || here.size() <= columns.size()) return fit;
  const double freedom = static_cast<double>(here.size() - columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    fit.factors[columns[i]] =
        std::exp(student_t95(freedom) * std::sqrt(std::max(0.0, (*spread)[i][i]) * fit.loss / freedom));
  }
  return fit;
}

}  // namespace stagecraft
