#include "estimate/node_costs.hpp"

#include <numeric>
#include <optional>

namespace stagecraft {
namespace {

struct Cost {
  TimeEstimate total;
  double tensor_s = 0;
  std::uint16_t inner = 0;
};

/// Operations without a body that cost the same: those of a stage, replica and kind.
std::size_t slot_of(const Op& op, std::size_t stages) {
  const std::size_t stage = op.stage.valid() ? op.stage.index() : 0;
  return (static_cast<std::size_t>(op.kind) * stages + stage) * 2 + op.replica;
}

}  // namespace

NodeCosts cost_nodes(const Plan& plan, const Schedule& schedule, const Graph& graph, const CostModel& model,
                     const Topology& topology) {
  return cost_nodes(plan, schedule, graph, model, topology,
                    time_bodies_by_rank(model, schedule.bodies, plan, topology));
}

NodeCosts cost_nodes(const Plan& plan, const Schedule& schedule, const Graph& graph, const CostModel& model,
                     const Topology& topology, const RankTimes& bodies) {
  const std::size_t nodes = node_count(graph);
  NodeCosts costs;
  for (auto* seconds : {&costs.expected_s, &costs.low_s, &costs.high_s, &costs.tensor_s}) seconds->resize(nodes);
  costs.inner.resize(nodes);
  const auto stages = static_cast<std::size_t>(stage_count(schedule));
  std::vector<std::optional<Cost>> of_slot(op_kind_count * stages * 2), of_body;

  const auto cost_of = [&](PipelineRank rank, const Op& op) -> Cost {
    if (op.body.valid()) {
      const BodyTime& body = bodies.at(rank)[op.body.index()];
      const ExposedTime& exposed = body.exposed;
      const InnerCommunication inner{exposed.context.value, exposed.expert.value, exposed.data.value,
                                     exposed.copies.value};
      return {body.total, exposed.tensor.value, index_of(costs.inner_table, inner)};
    }
    const bool instant = is_receive(op.kind) || is_compute(op.kind) || op.kind == OpKind::reshard;
    if (instant) return {};
    return {with_siblings(time_of(model, schedule, plan, topology, rank, op)), 0, 0};
  };

  std::size_t node = 0;
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    of_body.assign(schedule.bodies.bodies.size(), std::nullopt);
    for (const Op& op : schedule.programs[rank]) {
      std::optional<Cost>& cost = op.body.valid() ? of_body[op.body.index()] : of_slot[slot_of(op, stages)];
      if (!cost) cost = cost_of(PipelineRank(rank), op);
      costs.expected_s[node] = cost->total.expected.value;
      costs.low_s[node] = cost->total.low.value;
      costs.high_s[node] = cost->total.high.value;
      costs.tensor_s[node] = cost->tensor_s;
      costs.inner[node] = cost->inner;
      costs.seconds_by_evidence[static_cast<std::size_t>(cost->total.evidence)] += cost->total.expected.value;
      ++node;
    }
  }
  return costs;
}

Evidence evidence_of(const NodeCosts& costs) {
  const auto& seconds = costs.seconds_by_evidence;
  const double twentieth = std::accumulate(seconds.begin(), seconds.end(), 0.0) / 20;
  for (const Evidence weak : {Evidence::borrowed, Evidence::fitted}) {
    if (seconds[static_cast<std::size_t>(weak)] > twentieth) return weak;
  }
  return Evidence::measured;
}

}  // namespace stagecraft
