#pragma once
// Rank -> GPU. Ranks fill the cluster in order, so a tensor group lies inside a node whenever its degree divides the
// node (the mapping of Megatron-LM under torchrun: arXiv 2104.04473, section 3).

#include "base/ids.hpp"

namespace stagecraft {

constexpr GpuId gpu_at(Rank rank) {
  return GpuId(rank.value);
}

}  // namespace stagecraft
