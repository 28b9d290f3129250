#pragma once
// Which rank of one trace plays the part of which rank of another.

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace stagecraft {

/// Ranks of both traces, by their global numbers.
struct RankPair {
  std::int32_t a = 0, b = 0;
};

/// At most one partner for each rank, ascending by `a`. Ranks of one number are partners where numbers mean the same in
/// both traces: each that both have is at the same pipeline rank (or, where a file does not tell that, runs the same
/// stages) and stands for as many ranks if both are predicted. Otherwise, as with other degrees of tensor parallelism,
/// and for what is left over: the first replica of a pipeline rank with the first of the same one, and so on.
std::vector<RankPair> pair_ranks(const Trace& a, const Trace& b);

}  // namespace stagecraft
