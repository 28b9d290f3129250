#pragma once
// Least squares with few unknowns, and how far the equations determine them.

#include <functional>
#include <optional>
#include <vector>

namespace stagecraft {

/// Student's t at 95 % (the half width of a two-sided 90 % interval in standard errors) by Fisher's expansion about the
/// normal quantile (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5). Precondition: freedom >= 1.
double student_t95(double freedom);

/// Of a symmetric matrix; nothing if it is singular to working precision. Rows and columns are scaled first.
std::optional<std::vector<std::vector<double>>> inverse(const std::vector<std::vector<double>>& symmetric);

struct LinearFit {
  std::vector<double> values;       // none below 0
  std::vector<double> half_widths;  // 90 %; 0 where fewer equations than unknowns leave nothing to judge by
  double loss = 0;                  // sum of squares
};

/// The unknowns x >= 0 with the least sum over rows of (row . x - 1)^2: equations in relative terms, each divided by
/// what was measured. At most 4 unknowns, since every subset of them is tried. Nothing if no subset can be solved.
std::optional<LinearFit> fit_relative(const std::vector<std::vector<double>>& rows);

struct LogFit {
  std::vector<double> values;
  std::vector<double> factors;  // 90 % interval: value / factor to value * factor; infinite where nothing moves
  double loss = 0;
};

/// Positive unknowns of a law that is not linear (Levenberg-Marquardt in their logarithms). `residuals(values, out)`
/// gives the logarithms of predicted over measured. No value exceeds its `most`. Same input, same result.
LogFit fit_logarithms(const std::vector<double>& start, const std::vector<double>& most,
                      const std::function<void(const std::vector<double>&, std::vector<double>&)>& residuals);

}  // namespace stagecraft
