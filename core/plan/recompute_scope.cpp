#include "plan/recompute_scope.hpp"

#include <algorithm>
#include <cmath>

namespace stagecraft {

RecomputedBlocks recomputed_blocks(const RunSpec& run, std::int64_t blocks) {
  if (run.recompute == Recompute::per_op) return {blocks, 1};
  if (run.recompute != Recompute::full || blocks == 0) return {};
  const std::int64_t number = std::max<std::int64_t>(1, run.recompute_blocks);
  switch (run.recompute_scope) {
    case RecomputeScope::every_block:
      break;
    case RecomputeScope::every_kth:
      return {(blocks + number - 1) / number, 1};
    case RecomputeScope::first_blocks:
      return {std::min(blocks, number), 1};
    case RecomputeScope::groups:
      return {blocks, std::min(blocks, number)};
    case RecomputeScope::square_root:
      return {blocks, static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(blocks))))};
  }
  return {blocks, 1};
}

}  // namespace stagecraft
