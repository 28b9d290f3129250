#pragma once
// Where the parameters of a stage lie in its flat buffers, and how ZeRO cuts these over the data group: buckets of a
// fixed size, each divided evenly over the ranks, so that one collective per bucket moves them (Megatron-LM's
// distributed optimizer; arXiv 1910.02054).

#include <cstdint>
#include <deque>
#include <vector>

#include "exec/model/parameter.hpp"

namespace stagecraft {

struct FlatSpan {
  std::int64_t begin = 0, length = 0;
};

/// A part of the buffer whose elements are treated alike.
struct ParameterSpan {
  FlatSpan at;
  bool decayed = false;  // weight decay applies
  bool counted = false;  // enters the gradient norm on this rank (replicas and tied copies count once in the job)
};

struct FlatLayout {
  std::vector<std::int64_t> offsets;  // of each parameter
  std::vector<ParameterSpan> spans;   // ascending; padding is in none
  std::vector<FlatSpan> buckets;      // cover the buffer without gaps
  std::size_t tied_buckets = 0;  // the first ones hold the tied parameter alone, alike on every rank that has a copy
  std::int64_t elements = 0;     // of the buffer, padding included
  std::int64_t ranks = 1;        // that share it under ZeRO

  /// Of bucket b, the part that rank r owns.
  FlatSpan owned(std::size_t bucket, std::int64_t rank) const {
    const FlatSpan whole = buckets[bucket];
    const std::int64_t share = whole.length / ranks;
    return {whole.begin + rank * share, share};
  }
  /// Elements that one rank owns.
  std::int64_t shard_elements() const { return elements / ranks; }
};

/// Every parameter starts at a multiple of 64 elements and every bucket is a multiple of 64 * ranks long. A tied
/// parameter comes first, then those with weight decay, then vectors. `tied_counts`: this rank counts the tied
/// parameter; `replicas_count`: it counts parameters that the whole tensor group holds.
FlatLayout lay_out(const std::deque<Parameter>& parameters, std::int64_t ranks, std::int64_t bucket_elements,
                   bool tied_counts, bool replicas_count);

}  // namespace stagecraft
