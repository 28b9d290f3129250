#pragma once
// The pass that a stage's buckets travel beside: gradients behind the last backward pass, parameters behind the first
// forward pass.

#include "cost/cost_model.hpp"

namespace stagecraft {

/// Room for traffic, as seconds of its own full rate: of the pass but for what it sends through the NICs itself, and of
/// its wait for the copy of its activations; and how much longer it takes beside a collective, as a fraction. Nothing
/// if the rank runs no such pass.
struct PassRoom {
  double work_s = 0, wait_s = 0;
  double slowdown = 0;
};

/// `traffic` is the group that the buckets of `op` travel in; of copies between GPU and host, none. While a copy runs
/// that shares a PCIe wire with the group's traffic, only what it leaves of the wire counts.
PassRoom room_beside(const CostModel& model, const Schedule& schedule, const Plan& plan, const Topology& topology,
                     PipelineRank rank, const Op& op, const GroupShape& traffic);

/// Of `wanted_s` seconds of a collective: what finds room, and how much longer the pass takes for it. A pass takes
/// (1 + slowdown) times as long beside one and so loses slowdown / (1 + slowdown) of these seconds; what it loses comes
/// off its wait first, which costs nothing. The rest runs within the wait that is left.
struct Beside {
  double seconds = 0, longer_s = 0;
};
Beside fit(double wanted_s, const PassRoom& room);

}  // namespace stagecraft
