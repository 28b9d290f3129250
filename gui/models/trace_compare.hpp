#pragma once
// Differences of two traces: by class of time, by kind of operation, by operation.

#include <optional>

#include "gui/models/trace_rows.hpp"
#include "gui/models/trace_table.hpp"
#include "trace/align.hpp"

namespace stagecraft::gui {

struct Comparison {
  Alignment alignment;
  Breakdown a{}, b{};  // mean over the ranks, seconds of the last step
  double a_step_s = 0, b_step_s = 0;
};
/// A is taken for the prediction, B for the measurement.
Comparison compare(const LoadedTrace& a, const LoadedTrace& b);

/// Where the step goes in A and in B; the differences add up to the difference of the step times.
PlainTable class_table(const Comparison& comparison);
/// Operations by kind with the errors of A against B and the part of the step that each explains.
PlainTable kind_table(const Comparison& comparison);
/// Operations, the largest difference first, at most `most`; a line's tag is the index of its pair.
PlainTable operation_table(const LoadedTrace& a, const LoadedTrace& b, const Comparison& comparison,
                           std::size_t most = 20'000);

/// What to add to the times of B so that its last step, or its partner of span `a_span`, begins when A's does; none if
/// the operation has no partner.
double shift_to_step_start(const LoadedTrace& a, const LoadedTrace& b);
std::optional<double> shift_to_operation(const LoadedTrace& a, const LoadedTrace& b, const Comparison& comparison,
                                         bool in_a, std::uint32_t span);

/// "A 1.204 s, B 1.31 s: A is 8.1 % faster; 5210 operations in both, 3 only in A".
QString headline(const Comparison& comparison);

}  // namespace stagecraft::gui
