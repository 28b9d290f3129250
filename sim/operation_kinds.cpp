#include "sim/operation_kinds.hpp"

namespace stagecraft {
namespace {

bool alike(const OperationKind& kind, PipelineRank rank, const Op& op) {
  return kind.rank == rank && kind.op.bytes == op.bytes && kind.op.body == op.body && kind.op.channel == op.channel;
}

/// Operations without a body that take no time: receives, reshards, and compute of a schedule that has no model.
bool takes_no_time(const Op& op) {
  return is_compute(op.kind) || is_receive(op.kind) || op.kind == OpKind::reshard;
}

}  // namespace

OperationKinds collect_operation_kinds(const Plan& plan, const Schedule& schedule, const CostModel& model,
                                       const Topology& topology) {
  OperationKinds found;
  const auto stages = static_cast<std::size_t>(stage_count(schedule));
  const std::size_t replicas = schedule.placement.size();
  constexpr std::uint32_t unknown = 0xffffffff;
  std::vector<std::uint32_t> newest(op_kind_count * stages * replicas, unknown);
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    for (const Op& op : schedule.programs[rank]) {
      const std::size_t stage = op.stage.valid() ? op.stage.index() : 0;
      std::uint32_t& known = newest[(static_cast<std::size_t>(op.kind) * stages + stage) * replicas + op.replica];
      if (known == unknown || !alike(found.kinds[known], PipelineRank(rank), op)) {
        known = static_cast<std::uint32_t>(found.kinds.size());
        const bool communicates = !op.body.valid() && !takes_no_time(op);
        Demand demand;
        if (communicates) demand = demand_of(time_of(model, schedule, plan, topology, PipelineRank(rank), op));
        found.kinds.push_back({PipelineRank(rank), op, communicates, demand});
      }
      found.of_node.push_back(known);
    }
  }
  return found;
}

}  // namespace stagecraft
