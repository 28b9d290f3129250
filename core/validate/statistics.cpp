#include "validate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stagecraft {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::optional<ErrorStatistics> error_statistics(std::span<const double> signed_errors) {
  if (signed_errors.empty()) return std::nullopt;
  std::vector<double> sizes;
  for (const double error : signed_errors) sizes.push_back(std::abs(error));
  std::sort(sizes.begin(), sizes.end());
  const std::size_t n = sizes.size();
  ErrorStatistics statistics;
  statistics.n = n;
  statistics.mean = mean_of(sizes);
  statistics.median = n % 2 == 1 ? sizes[n / 2] : (sizes[n / 2 - 1] + sizes[n / 2]) / 2;
  statistics.p90 = sizes[(9 * n + 9) / 10 - 1];
  statistics.worst = sizes.back();
  statistics.bias = mean_of(signed_errors);
  return statistics;
}

std::vector<double> ranks_of(std::span<const double> values, double margin) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size(), 0);
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] <= values[order[first]] * (1 + margin)) ++last;
    for (std::size_t i = first; i <= last; ++i) ranks[order[i]] = static_cast<double>(first + last) / 2 + 1;
    first = last + 1;
  }
  return ranks;
}

std::optional<double> spearman(std::span<const double> predicted, std::span<const double> measured, double margin) {
  if (predicted.size() < 3) return std::nullopt;
  const std::vector<double> a = ranks_of(predicted, margin), b = ranks_of(measured, margin);
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double both = 0, square_a = 0, square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    square_a += (a[i] - mean_a) * (a[i] - mean_a);
    square_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (square_a <= 0 || square_b <= 0) return std::nullopt;
  return both / std::sqrt(square_a * square_b);
}

double regret(std::span<const double> predicted, std::span<const double> measured) {
  const auto chosen = std::min_element(predicted.begin(), predicted.end()) - predicted.begin();
  return measured[static_cast<std::size_t>(chosen)] / *std::min_element(measured.begin(), measured.end()) - 1;
}

}  // namespace stagecraft
