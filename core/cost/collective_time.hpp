#pragma once
// Closed-form time of collectives and transfers on an otherwise idle network. The simulator adds contention on top: it
// caps each flow so that an idle network gives exactly this time.
//
// On one node with a measured profile: t = alpha + g sqrt(S) + S f / B, f the bus factor of nccl-tests
// (doc/PERFORMANCE.md: 2(n-1)/n all-reduce, (n-1)/n all-gather, reduce-scatter and all-to-all, 1 broadcast); g shrinks
// with the ring's length. Across nodes: the ring's bus bandwidth is that of the slower of the node and the NICs it may
// use; a tree adds a latency per doubling of nodes, a ring one per node; the faster counts. An all-to-all cannot gather
// NICs: a GPU sends through its own (NVIDIA/nccl-tests#130, #267).

#include <span>

#include "cost/calibration.hpp"
#include "cost/fabric_share.hpp"
#include "schedule/body.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

/// How a communicator lies on the machines.
struct GroupShape {
  std::int32_t ranks = 1;
  std::int32_t nodes = 1;
  std::int32_t ranks_per_node = 1;     // the largest
  LinkKind inside = LinkKind::nvlink;  // the slowest kind on the ring inside a node
  bool staged_through_host = false;    // some copy inside a node passes host memory
  BytesPerSecond intra_achieved;       // of the slowest link inside a node on the ring
  BytesPerSecond inter_achieved;       // of all NICs that the ring may use in a node, of the node that has least
  std::int32_t crossing_ranks = 1;     // where each rank sends to each: on the node that takes longest
  BytesPerSecond crossing_achieved;    // and of all NICs that these may use
  double nic_sharers = 1;              // groups of this axis that use the same NICs when all ranks of the job take part
  BytesPerSecond links_of_gpu;  // of the kind `inside`, all of a GPU together, without faults: the least of the group's
  double left = 1;  // of the rate inside a node, after faults; intra_achieved and inter_achieved are what is left
  FabricShare fabric_alone = {};   // what trunks take of the group's own traffic
  FabricShare fabric_shared = {};  // the same while its siblings run

  friend bool operator==(const GroupShape&, const GroupShape&) = default;
};

/// `job_gpus`: GPUs of the cluster that the job uses, the first ones (0: all).
GroupShape shape_of(const Topology& topology, std::span<const GpuId> members, std::int64_t job_gpus = 0);

struct CollectiveTime {
  TimeEstimate total;
  Seconds latency;   // the part that does not depend on contention
  Bytes wire_bytes;  // that each rank sends, all hops of the algorithm together
  const char* algorithm = "ring";
  Seconds shared;  // expected time if the sibling groups that share the NICs run at the same time
};

/// `total`, moved to the time that it takes while its sibling groups use the same NICs.
TimeEstimate with_siblings(const CollectiveTime& time);

/// What an all-to-all puts on the wires, as shares of its bytes: each GPU sends so much through the network and over
/// the links of its node. n ranks, g of them on a node, exchange (n-g)/n and (g-1)/n. The k copies of a token in a
/// deduplicated dispatch go to M (1 - (1 - 1/M)^k) of M nodes on average, each node as likely, once to each, and from
/// there to the ranks that want them. One that is reduced in the node first (ZeRO++) takes 1/g across.
struct AllToAllSpread {
  double across = 0, inside = 0;
};

AllToAllSpread spread_of(const Collective& collective, const GroupShape& shape);

double bus_factor(CollectiveKind kind, std::int32_t ranks);

CollectiveTime collective_time(const Collective& collective, const GroupShape& shape, const Calibration& calibration);

CollectiveTime collective_time(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                               const Calibration& calibration);

/// One message between two GPUs.
CollectiveTime transfer_time(Bytes bytes, const Route& route, const Calibration& calibration);

}  // namespace stagecraft
