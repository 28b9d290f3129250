#include "validate/network_times.hpp"

#include <fmt/format.h>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

std::vector<GpuId> members_of(std::int32_t nodes, std::int32_t per_node, const Topology& topology) {
  std::vector<GpuId> members;
  for (std::int32_t node = 0; node < nodes; ++node) {
    for (std::int32_t gpu = 0; gpu < per_node; ++gpu) members.emplace_back(node * topology.gpus_per_node + gpu);
  }
  return members;
}

Route longest_way(const std::vector<GpuId>& members, const Topology& topology) {
  Route longest, route;
  for (std::size_t i = 0; i < members.size(); ++i) {
    find_route(topology, members[i], members[(i + 1) % members.size()], route);
    const bool first = longest.links.empty();
    const bool slower = route.bottleneck < longest.bottleneck ||
                        (route.bottleneck == longest.bottleneck && route.latency > longest.latency);
    if (first || slower) longest = route;
  }
  return longest;
}

CollectiveKind kind_of(NcclOp op) {
  switch (op) {
    case NcclOp::all_reduce:
      return CollectiveKind::all_reduce;
    case NcclOp::all_gather:
      return CollectiveKind::all_gather;
    case NcclOp::reduce_scatter:
      return CollectiveKind::reduce_scatter;
    case NcclOp::all_to_all:
      return CollectiveKind::all_to_all;
    case NcclOp::broadcast:
    case NcclOp::reduce:
    case NcclOp::sendrecv:
      break;
  }
  return CollectiveKind::broadcast;
}

}  // namespace

NetworkPlaces places_of(const std::vector<TimedCollective>& times, const Topology& topology) {
  NetworkPlaces places;
  for (const TimedCollective& time : times) {
    const std::pair place{time.nodes, time.ranks_per_node};
    const bool send = time.op == NcclOp::sendrecv;
    if (send ? places.ways.contains(place) : places.shapes.contains(place)) continue;
    if (time.nodes > topology.cluster.nodes || time.ranks_per_node > topology.gpus_per_node) {
      throw InputError(InputProblem{time.source, 0, 0, "",
                                    fmt::format("{} nodes with {} GPUs each", time.nodes, time.ranks_per_node),
                                    fmt::format("at most {} with {}, the cluster {}", topology.cluster.nodes,
                                                topology.gpus_per_node, topology.cluster.name),
                                    ""});
    }
    const std::vector<GpuId> members = members_of(time.nodes, time.ranks_per_node, topology);
    if (send) {
      places.ways[place] = longest_way(members, topology);
    } else {
      places.shapes[place] = shape_of(topology, members, time.nodes * topology.gpus_per_node);
    }
  }
  return places;
}

double predicted_time(const TimedCollective& time, const NetworkPlaces& places, const Calibration& calibration) {
  const std::pair place{time.nodes, time.ranks_per_node};
  if (time.op == NcclOp::sendrecv) {
    return transfer_time({time.bytes}, places.ways.at(place), calibration).total.expected.value;
  }
  return collective_time(kind_of(time.op), {time.bytes}, places.shapes.at(place), calibration).total.expected.value;
}

}  // namespace stagecraft
