#pragma once
// Errors of many predictions together, and how well a prediction ranks.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace stagecraft {

/// Of signed relative errors (predicted / measured - 1): mean, median, 90th percentile and largest of their absolute
/// values, and the signed mean. The percentile is the smallest value that at least 90 % of the values do not exceed;
/// the median of an even number is the mean of the middle two.
struct ErrorStatistics {
  std::size_t n = 0;
  double mean = 0, median = 0, p90 = 0, worst = 0, bias = 0;
};
std::optional<ErrorStatistics> error_statistics(std::span<const double> signed_errors);

/// Ranks from 1 on. Values whose distance from the smallest of their run is within `margin` (a fraction) tie and share
/// the mean of their ranks. Precondition: values are positive.
std::vector<double> ranks_of(std::span<const double> values, double margin);

/// Pearson's correlation of the ranks; nothing for fewer than three pairs or where all of one side tie.
std::optional<double> spearman(std::span<const double> predicted, std::span<const double> measured, double margin);

/// How much longer the choice by prediction took than the best: measured[argmin predicted] / min measured - 1.
/// Precondition: not empty.
double regret(std::span<const double> predicted, std::span<const double> measured);

}  // namespace stagecraft
