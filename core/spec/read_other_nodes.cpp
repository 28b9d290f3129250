// Nodes of other kinds in a cluster, each kind described by a cluster of its own.

#include <fmt/format.h>

#include <utility>

#include "spec/read_cluster.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t most_kinds = 64;

void check_other(const JsonNode& node, const ClusterSpec& cluster, const ClusterSpec& other) {
  if (!other.other_nodes.empty())
    node.fail("a cluster whose nodes are alike", "", fmt::format("{}, which has other_nodes itself", other.name));
  if (!other.faults.empty())
    node.fail("a cluster without faults; those of its nodes belong into \"faults\" here", "",
              fmt::format("{}, which has faults", other.name));
  const std::int64_t own = gpus_per_node(cluster.node), there = gpus_per_node(other.node);
  if (own != there)
    node.fail(fmt::format("a cluster with {} GPUs per node, as many as {} has: ranks are numbered node by node", own,
                          cluster.name),
              "", fmt::format("{} with {}", other.name, there));
}

OtherNodes read_kind(const JsonNode& element, const ClusterSpec& cluster, const std::string& where, Reading& reading,
                     const ClusterParts& parts) {
  OtherNodes kind;
  ObjectReader fields(element, where, reading);
  fields.required("count", kind.count, integer_in(1, most_nodes));
  fields.required("cluster", kind.cluster, [&](const JsonNode& node) {
    const std::size_t problems = reading.problems.size();
    ClusterSpec other = parts.cluster(node, where + "/cluster");
    if (reading.problems.size() == problems) check_other(node, cluster, other);
    if (other.fabric.kind != FabricKind::none) {
      kind.nic_nominal = other.fabric.nic_nominal;
      kind.nic_achieved = other.fabric.nic_achieved;
    }
    kind.gpu = std::move(other.gpu);
    kind.node = std::move(other.node);
    kind.calibration = std::move(other.calibration);
    return other.name;
  });
  fields.finish();
  return kind;
}

}  // namespace

std::vector<OtherNodes> read_other_nodes(const JsonNode& list, const ClusterSpec& cluster, const std::string& where,
                                         Reading& reading, const ClusterParts& parts) {
  std::vector<OtherNodes> kinds;
  std::int64_t count = 0;
  for (const JsonNode& element : list.elements()) {
    if (kinds.size() == most_kinds) list.fail(fmt::format("at most {} kinds of nodes", most_kinds), "", "more");
    kinds.push_back(read_kind(element, cluster, fmt::format("{}/{}", where, kinds.size()), reading, parts));
    count += kinds.back().count;
    if (count < cluster.nodes) continue;
    element.at("count").fail(
        fmt::format("fewer nodes of other kinds than the cluster's {}, which counts them all", cluster.nodes),
        fmt::format("\"nodes\": {}", count + 1), fmt::format("{} together", count));
  }
  return kinds;
}

}  // namespace stagecraft
