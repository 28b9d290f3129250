// The ranks fit on the cluster.
#include <fmt/format.h>

#include <set>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {

namespace {

void check_rank_file(const PlacementSpec& placement, std::int64_t world, std::int64_t nodes, std::int64_t per_node,
                     Findings& findings) {
  if (placement.rank_file.empty()) return;
  const auto refuse = [&](std::string message, std::string nearest) {
    findings.push_back({Severity::error, "rank-file", "/parallel/placement/rank_file",
                        placement.rank_file + ": " + std::move(message), std::move(nearest)});
  };
  const auto lines = static_cast<std::int64_t>(placement.places.size());
  if (lines != world)
    return refuse(fmt::format("{} places for {} ranks", lines, world), fmt::format("{} lines", world));
  std::set<std::pair<std::int64_t, std::int64_t>> taken;
  for (std::int64_t rank = 0; rank < lines; ++rank) {
    const auto [node, gpu] = placement.places[static_cast<std::size_t>(rank)];
    if (node >= nodes || gpu >= per_node) {
      return refuse(
          fmt::format("rank {} is on {}:{}, but there are {} nodes of {} GPUs", rank, node, gpu, nodes, per_node),
          fmt::format("{}:{}", std::min(node, nodes - 1), std::min(gpu, per_node - 1)));
    }
    if (!taken.insert({node, gpu}).second)
      return refuse(fmt::format("rank {} is on {}:{}, where another rank is already", rank, node, gpu), "");
  }
}

std::string quoted(BytesPerSecond rate) {
  return fmt::format("\"{}\"", to_text(rate));
}

// The label and what is achieved are two fields: who changes one may forget the other.
void check_rates(const ClusterSpec& cluster, Findings& findings) {
  constexpr double usual = 0.75;  // NICs of the shipped clusters reach 0.8 to 0.98 of their label
  const auto above = [&](std::string pointer, const std::string& what, BytesPerSecond achieved,
                         BytesPerSecond nominal) {
    findings.push_back({Severity::error, "achieved-above-nominal", std::move(pointer),
                        fmt::format("{} achieves {}, expected at most the {} that it is labelled with", what,
                                    to_text(achieved), to_text(nominal)),
                        quoted(nominal)});
  };
  for (std::size_t i = 0; i < cluster.node.wires.size(); ++i) {
    const WireSpec& wire = cluster.node.wires[i];
    if (wire.achieved <= wire.nominal) continue;
    above(fmt::format("/cluster/node/wires/{}/achieved", i), wire.from + "-" + wire.to, wire.achieved, wire.nominal);
  }
  const FabricSpec& fabric = cluster.fabric;
  if (fabric.kind == FabricKind::none) return;
  constexpr const char* pointer = "/cluster/fabric/nic_achieved";
  if (fabric.nic_achieved > fabric.nic_nominal) {
    above(pointer, "a NIC", fabric.nic_achieved, fabric.nic_nominal);
  } else if (fabric.nic_achieved.value < usual * fabric.nic_nominal.value) {
    findings.push_back(
        {Severity::note, "nic-far-below-label", pointer,
         fmt::format(
             "a NIC achieves {}, {:.0f} % of the {} that it is labelled with, and times follow what it achieves",
             to_text(fabric.nic_achieved), 100 * fabric.nic_achieved.value / fabric.nic_nominal.value,
             to_text(fabric.nic_nominal)),
         quoted(fabric.nic_nominal * 0.96)});
  }
}

}  // namespace

void check_cluster(const Scenario& scenario, Findings& findings) {
  const ParallelSpec& parallel = scenario.run.parallel;
  const ClusterSpec& cluster = scenario.cluster;
  const std::int64_t per_node = gpus_per_node(cluster.node);
  if (per_node < 1) {
    findings.push_back({Severity::error, "no-gpus", "/cluster/node", "a node of the cluster has no GPU", ""});
    return;
  }
  check_rates(cluster, findings);
  constexpr std::int64_t beyond = std::int64_t{1} << 62;
  const std::int64_t gpus = capped_product({cluster.nodes, per_node}, beyond);
  const std::int64_t without_data = capped_product({parallel.tensor, parallel.context, parallel.pipeline}, beyond);
  const std::int64_t world = capped_product({without_data, parallel.data}, beyond);
  if (world > gpus) {
    const bool fewer_data = without_data <= gpus;
    const std::int64_t nodes = world / per_node + (world % per_node != 0 ? 1 : 0);
    findings.push_back(
        {Severity::error, "more-ranks-than-gpus", fewer_data ? "/parallel/data" : "/cluster/nodes",
         fmt::format("tensor {} x context {} x data {} x pipeline {} = {} ranks, but the cluster has {} GPUs ({} nodes "
                     "of {}); {} nodes would hold them",
                     parallel.tensor, parallel.context, parallel.data, parallel.pipeline, world, gpus, cluster.nodes,
                     per_node, nodes),
         fmt::format("{}", fewer_data ? gpus / without_data : nodes)});
  } else if (world > largest_world) {
    findings.push_back({Severity::error, "too-many-ranks", "/parallel/data",
                        fmt::format("{} ranks exceed the {} that are supported", world, largest_world),
                        without_data <= largest_world ? fmt::format("{}", largest_world / without_data) : ""});
  } else if (world < gpus) {
    findings.push_back({Severity::note, "idle-gpus", "/parallel/data",
                        fmt::format("{} ranks leave {} of {} GPUs idle", world, gpus - world, gpus),
                        fmt::format("{}", gpus / without_data)});
  }
  check_rank_file(parallel.placement, world, cluster.nodes, per_node, findings);
  if (parallel.tensor > per_node) {
    findings.push_back({Severity::warning, "tensor-beyond-node", "/parallel/tensor",
                        fmt::format("{} tensor ranks do not fit on one node of {} GPUs: every block's collectives will "
                                    "cross the fabric",
                                    parallel.tensor, per_node),
                        fmt::format("{}", per_node)});
  } else if (per_node % parallel.tensor != 0) {
    findings.push_back(
        {Severity::warning, "tensor-across-nodes", "/parallel/tensor",
         fmt::format("{} tensor ranks do not divide a node of {} GPUs: some groups will cross the fabric",
                     parallel.tensor, per_node),
         nearest_values(parallel.tensor, per_node, [&](std::int64_t value) { return per_node % value == 0; })});
  }
}

}  // namespace stagecraft
