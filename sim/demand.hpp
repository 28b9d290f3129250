#pragma once
// Collectives and transfers as the closed form sees them on an idle network. Internal to the room.

#include <vector>

#include "cost/cost_model.hpp"
#include "schedule/body.hpp"

namespace stagecraft {

struct Demand {
  double seconds = 0;
  double latency = 0;  // of these seconds: does not depend on contention
  double bytes = 0;    // that each rank sends during the others
};

/// Whether there is anything that contention could slow.
bool has_rate(const Demand& demand);

Demand demand_of(const CollectiveTime& time);

bool is_tensor_collective(const Segment& segment);

/// The exposed part of a tensor-parallel collective inside a body: where it hides behind kernels, the end of its flow.
Demand tensor_demand(const CostModel& model, const Collective& collective, const SegmentTime& exposed);

/// All tensor-parallel collectives of a body, repeats left out.
std::vector<Demand> tensor_demands(const CostModel& model, const Body& body, const BodyTime& time);

}  // namespace stagecraft
