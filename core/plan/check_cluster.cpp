// The ranks fit on the cluster.
#include <fmt/format.h>

#include <set>

#include "plan/feasibility_checks.hpp"
#include "topology/achieved_rates.hpp"

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

void note_slow_nics(const FabricSpec& fabric, Findings& findings) {
  constexpr double usual = 0.75;  // NICs of the shipped clusters reach 0.8 to 0.98 of their label
  if (fabric.kind == FabricKind::none || fabric.nic_achieved.value >= usual * fabric.nic_nominal.value) return;
  findings.push_back(
      {Severity::note, "nic-far-below-label", "/cluster/fabric/nic_achieved",
       fmt::format("a NIC achieves {}, {:.0f} % of the {} that it is labelled with, and times follow what it achieves",
                   to_text(fabric.nic_achieved), 100 * fabric.nic_achieved.value / fabric.nic_nominal.value,
                   to_text(fabric.nic_nominal)),
       fmt::format("\"{}\"", to_text(fabric.nic_nominal * 0.96))});
}

void check_cluster_rates(const ClusterSpec& cluster, Findings& findings) {
  const std::size_t before = findings.size();
  check_achieved_rates(cluster, findings);
  for (std::size_t i = before; i < findings.size(); ++i) findings[i].pointer = "/cluster" + findings[i].pointer;
  note_slow_nics(cluster.fabric, findings);
}

/// Expert groups would fit on a node, but some lie on two.
void note_straddling_experts(const Scenario& scenario, std::int64_t per_node, std::int64_t world, Findings& findings) {
  const ParallelSpec& parallel = scenario.run.parallel;
  if (scenario.model.moe.experts == 0 || parallel.expert < 2 || !parallel.placement.places.empty()) return;
  const std::int64_t span = parallel.expert * expert_tensor_of(parallel);
  if (world <= per_node || span > per_node || per_node % span == 0) return;
  const std::int64_t whole = per_node / span * span;
  findings.push_back(
      {Severity::note, "experts-across-nodes", "/cluster/gpus_per_node",
       fmt::format("expert groups of {} ranks do not tile nodes of {} GPUs: some lie on two, and all wait for these; "
                   "{} GPUs of each of {} nodes would hold them whole",
                   span, per_node, whole, (world + whole - 1) / whole),
       fmt::format("{}", whole)});
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
  check_cluster_rates(cluster, findings);
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
  } else {
    note_straddling_experts(scenario, per_node, world, findings);
  }
}

}  // namespace stagecraft
