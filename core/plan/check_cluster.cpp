// The ranks fit on the cluster.
#include <fmt/format.h>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {

void check_cluster(const Scenario& scenario, Findings& findings) {
  const ParallelSpec& parallel = scenario.run.parallel;
  const ClusterSpec& cluster = scenario.cluster;
  const std::int64_t per_node = gpus_per_node(cluster.node);
  if (per_node < 1) {
    findings.push_back({Severity::error, "no-gpus", "/cluster/node", "a node of the cluster has no GPU", ""});
    return;
  }
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
