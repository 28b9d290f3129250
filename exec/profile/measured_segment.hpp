#pragma once
// What a profile consists of.

#include <optional>
#include <string>
#include <vector>

#include "schedule/body.hpp"

namespace stagecraft {

/// Seconds of one segment of a body (schedule/body.hpp), found by its name and shape.
struct TimedSegment {
  std::string segment;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  double bytes = 0;
  double seconds = 0;
  double relative_error = 0;  // half the spread of the middle half of the repetitions
};

/// t = latency + bytes * factor / rate, from two sizes.
struct TimedTransfer {
  std::string name;  // "send", "all_reduce", ...
  double latency_s = 0;
  double bytes_per_s = 0;
  double relative_error = 0;
  double smallest = 0, largest = 0;  // bytes
  int ranks = 2;
};

struct Profile {
  std::vector<TimedSegment> segments;
  std::vector<TimedTransfer> transfers;
  std::optional<double> rank_spread;  // see spread_of; none for a lone rank
};

/// Standard deviation of the speed of ranks that do the same work at the same time, as a fraction: the root of the mean
/// over all windows of the unbiased variance over the ranks, by the square of their mean. `seconds`: [rank][window].
/// Lists of unequal length are cut to the shortest. 0 for one rank.
double spread_of(const std::vector<std::vector<double>>& seconds);

/// Adds an entry unless an equal one (name, shape, bytes) is there.
void add_segment(Profile& profile, TimedSegment segment);

/// What a repetition takes, and half the distance between the quartiles as a fraction of it.
struct Typical {
  double value = 0, relative_error = 0;
};

/// Of computations: a step is the sum of many, so what it takes is the sum of their means. Medians leave out what now
/// and then takes longer (another process had the core, memory was slow), which a step does not.
Typical mean_of(std::vector<double> values);

/// Of messages and exchanges on their own: few in a step, and a wait for a peer that lost its core would count as time
/// on the wire.
Typical median_of(std::vector<double> values);

}  // namespace stagecraft
