#pragma once
// Kinds of traffic and the links that each uses, over all ranks that a representative stands for. Knows no bytes, no
// times and no SimGrid.

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

enum class TrafficKind : std::uint8_t {
  send,    // pipeline messages from one pipeline rank to another, one flow per tensor, context and data coordinate
  data,    // rings over the data x context group of a pipeline rank, or over its shard groups, for every tensor
           // coordinate; with `to`, what the ranks of `from` send in rings that also span those of `to` (which hold the
           // other copy of a bidirectional stage)
  tied,    // between the two pipeline ranks that hold a copy of the embedding, in the direction from -> to
  tensor,  // rings over the tensor groups of a pipeline rank
  to_host,    // from each GPU of a pipeline rank to its nearest CPU
  from_host,  // and back
};

/// All flows of a class start together and go on at one pace, that of the slowest: they are one variable.
struct TrafficClass {
  TrafficKind kind = TrafficKind::send;
  bool gradient = false;      // of a send: activations and gradients are queued apart
  std::int32_t replica = -1;  // data x context coordinate that it belongs to; -1: all of them
  PipelineRank from, to;
  Axis over = Axis::data;  // of data: whose ranks form a ring; `shard` where several shards make up the group
  friend auto operator<=>(const TrafficClass&, const TrafficClass&) = default;
};

/// One unit of a class takes `all` units of the link, of which `one` come from a single communicator (or sender).
struct LinkUse {
  LinkId link;
  std::int64_t one = 0, all = 0;
  friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

struct ClassTraffic {
  /// Units per byte that a rank sends: NCCL opens several rings that leave a node through different ranks, so of the T
  /// bytes that each of q ranks of a node sends, T/q leave through its NIC and T(q-1)/q stay inside
  /// (github.com/NVIDIA/nccl src/graph/rings.cc). The unit is T/q: `units_per_byte` = 1/q.
  double units_per_byte = 1;
  bool several_at_once = false;  // more than one channel queues flows of the class
  std::vector<LinkUse> uses;     // ascending by link
};

/// Data replicas that are simulated apart: 1 if folded, else data x context.
std::int32_t replica_count(const Plan& plan, bool folded);

/// The class behind an operation of a pipeline rank that is not a compute operation: sends, reductions, gathers,
/// copies between GPU and host.
TrafficClass class_of(const Plan& plan, const Schedule& schedule, PipelineRank rank, const Op& op,
                      std::int32_t replica);

/// All classes that the schedule can use, ascending. Data classes belong to all replicas.
std::vector<TrafficClass> traffic_classes(const Plan& plan, const Schedule& schedule, bool folded);

/// Walks the routes of all flows of the class. `several_at_once` is left to the caller.
ClassTraffic traffic_of(const TrafficClass& traffic, const Plan& plan, const Topology& topology);

/// Whether messages of the class wait in more than one queue (schedules that fell back to a channel per message).
bool has_several_channels(const TrafficClass& traffic, const Schedule& schedule);

}  // namespace stagecraft
