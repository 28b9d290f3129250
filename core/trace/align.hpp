#pragma once
// A predicted and a measured trace of one scenario, joined operation by operation.

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace stagecraft {

/// One operation of a rank and of its partner in the other trace; indices of spans.
struct AlignedPair {
  std::uint32_t predicted = 0, measured = 0;
};

/// Errors of one kind of operation. Signed errors are (predicted - measured) / measured.
struct KindError {
  OpKind kind = OpKind::forward;
  std::size_t operations = 0;
  double predicted_s = 0, measured_s = 0;  // summed over the operations
  double mean_error = 0;                   // (predicted - measured) / measured of the sums
  double p95_error = 0;                    // 95th percentile of the absolute errors of single operations
  double explains_s = 0;                   // change of the predicted time when this kind takes its measured durations
};

/// Provenance of a predicted trace: the fraction of the step by which its operations last longer than the mean rank's,
/// because the slowest rank is waited for. In a measured trace the mean rank idles meanwhile.
inline constexpr const char* waiting_key = "waiting_for_slowest";

struct RankMemory {
  std::int32_t rank = 0;                           // as the prediction numbers it
  double predicted_bytes = 0, measured_bytes = 0;  // peaks
};

struct Alignment {
  std::vector<AlignedPair> pairs;
  std::size_t only_predicted = 0, only_measured = 0;  // operations without a partner
  double predicted_step_s = 0, measured_step_s = 0;   // mean over the steps of each trace
  double predicted_bubble = 0, measured_bubble = 0;   // bubble_fraction over the steps of each trace; what the mean
                                                      // rank is predicted to wait for the slowest is in it
  std::vector<KindError> kinds;                       // in the order of OpKind
  std::vector<RankMemory> memory;                     // ranks of which both traces have counters
};

/// Joins whole operations by OpId, rank by rank as pair_ranks() pairs them; a predicted trace that holds
/// representatives only is joined on these. Where the measured trace has other steps than the predicted one, its last
/// steps are joined with the predicted last steps. Precondition: both have at least one step and spans ordered by
/// (rank, lane, begin).
Alignment align(const Trace& predicted, const Trace& measured);

/// End of the longest path through a trace's dependencies with these durations (one per span), from 0.
double longest_path_s(const Trace& trace, const std::vector<double>& duration_s);

/// Largest value of the sum of a rank's "memory/..." counters at any time; "memory/overhead" (contexts, libraries: not
/// seen by an allocator) is left out. 0 if it has none.
double peak_memory_bytes(const Trace& trace, std::int32_t rank);

}  // namespace stagecraft
