#pragma once
// Bringing small tables of numbers from all ranks together, and their clocks.

#include <vector>

#include "exec/run/recorder.hpp"
#include "exec/transport/transport.hpp"

namespace stagecraft {

/// Every rank's numbers, by rank, on every rank. The lists may differ in length.
std::vector<std::vector<double>> gather_numbers(const std::vector<double>& mine, const Group& world,
                                                Transport& transport, at::Device device);

struct ClockOffsets {
  std::vector<double> offset_s;  // [rank]: what to subtract from its now_s() to get rank 0's
  double skew_s = 0;             // half width of what remains uncertain
};
/// Ranks on one machine read one clock. Across machines all stamp the moment they leave a barrier, several times; the
/// median difference to rank 0 is the offset and half its range the skew.
ClockOffsets align_clocks(const Group& world, Transport& transport, at::Device device);

/// RecordedOps as numbers and back, for gather_numbers.
std::vector<double> pack(const std::vector<RecordedOp>& ops);
std::vector<RecordedOp> unpack(const std::vector<double>& numbers);

}  // namespace stagecraft
