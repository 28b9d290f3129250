#pragma once
// Rank -> GPU. By the usual order ranks fill the cluster as they are numbered, so a tensor group lies inside a node
// whenever its degree divides the node (the mapping of Megatron-LM under torchrun: arXiv 2104.04473, section 3).

#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "plan/layout.hpp"
#include "spec/run_spec.hpp"

namespace stagecraft {

/// [rank] -> GPU; empty where rank r runs on GPU r. Precondition: a rank file has a place for each rank.
std::vector<GpuId> placed(const Degrees& degrees, const PlacementSpec& placement, std::int64_t gpus_per_node);

}  // namespace stagecraft
