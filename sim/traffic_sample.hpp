#pragma once
// A smaller job whose ranks use links of every kind in the same way: what is walked in place of a hundred thousand
// machines. Internal to the room.

#include <cstdint>

#include "plan/plan.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

struct TrafficSample {
  Plan plan;
  Topology topology;
};

/// Ranks are numbered data slower than tensor and context, so replicas repeat their place on the machines every few
/// leaf groups, and so does what they send. Of every pipeline rank's replicas whole repetitions are left out of the
/// middle, with the machines below them; the first and the last ones, and what does not fill a repetition, stay. Links
/// of the job and of its sample fall into the same kinds (crossed by the same classes equally often).
/// If not `folded`, every replica is played and none is left out.
TrafficSample traffic_sample(const Plan& plan, const Topology& topology, bool folded);

}  // namespace stagecraft
