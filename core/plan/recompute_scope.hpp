#pragma once
// Which blocks of a stage full recompute covers.

#include <cstdint>

#include "spec/run_spec.hpp"

namespace stagecraft {

/// Of a stage's `blocks` blocks: how many are computed again, and how many of them form one piece that keeps only its
/// first input. Megatron-LM's "uniform" method is `groups`, its "block" method `first_blocks`.
struct RecomputedBlocks {
  std::int64_t count = 0;
  std::int64_t piece = 1;
};
RecomputedBlocks recomputed_blocks(const RunSpec& run, std::int64_t blocks);

}  // namespace stagecraft
