// Operations that are not compute: sends, reductions of gradients, gathers of parameters.

#include <algorithm>
#include <cmath>

#include "cost/cost_model.hpp"
#include "schedule/body_shape.hpp"

namespace stagecraft {
namespace {

// A bidirectional schedule holds every stage twice, so its gradients are reduced over twice the ranks.
GroupShape over_replicas(GroupShape shape, std::size_t replicas) {
  shape.ranks *= static_cast<std::int32_t>(replicas);
  if (replicas > 1 && shape.nodes > 1) shape.nodes *= static_cast<std::int32_t>(replicas);
  return shape;
}

PipelineRank destination(const Schedule& schedule, const Op& op) {
  if (op.channel.valid()) return schedule.channels[op.channel.index()].to;
  const std::int32_t next = op.stage.value + (op.kind == OpKind::send_activation ? 1 : -1);
  return rank_of(schedule, Stage{next}, op.replica);
}

// What buckets hide: all but one of them travel while the last backward (the first forward) of the stage still runs.
double hidden_by_buckets(const CostModel& model, const Schedule& schedule, const Plan& plan, const Op& op,
                         const CollectiveTime& time, double bytes) {
  const bool reduces = op.kind == OpKind::reduce_grad, gathers = op.kind == OpKind::gather_params;
  const bool overlapped = (reduces && plan.run.overlap.gradient_reduce) ||
                          (gathers && plan.run.overlap.parameter_gather && op.lane == Lane::data);
  if (!overlapped || !op.stage.valid() || schedule.bodies.of_stage.empty()) return 0;
  const double buckets = std::ceil(bytes / plan.run.gradient_bucket_bytes);
  const OpKind beside = reduces ? OpKind::backward : OpKind::forward;
  const BodyId body = schedule.bodies.of_stage[op.stage.index()][static_cast<std::size_t>(beside)];
  if (buckets < 2 || !body.valid()) return 0;
  const Bodies alone{{schedule.bodies.bodies[body.index()]}, {}};
  const double compute = time_bodies(model, alone, plan).front().total.expected.value;
  return std::min(time.shared.value, compute) * (1 - 1 / buckets);
}

CollectiveTime without(CollectiveTime time, double hidden) {
  const double left = time.shared.value > 0 ? 1 - hidden / time.shared.value : 1;
  time.total = {time.total.expected * left, time.total.low * left, time.total.high * left, time.total.evidence};
  time.shared = time.shared * left;
  return time;
}

CollectiveTime none() {
  CollectiveTime time;
  time.total.evidence = Evidence::measured;
  time.algorithm = "none";
  return time;
}

}  // namespace

Collective collective_of(const Plan& plan, const Op& op) {
  const BodyShape shape = body_shape(plan);
  const double parameters = op.stage.valid() ? parameters_per_rank(plan, op.stage) : 0;
  switch (op.kind) {
    case OpKind::reduce_grad:
      return {plan.run.zero_stage >= 1 ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce, Axis::data,
              Bytes{parameters * shape.gradient}};
    case OpKind::reduce_tied:
      return {CollectiveKind::all_reduce, Axis::embedding,
              Bytes{static_cast<double>(shape.vocabulary) * static_cast<double>(shape.hidden) * shape.gradient}};
    case OpKind::gather_params:
    case OpKind::unshard:
      return {CollectiveKind::all_gather, Axis::data, Bytes{parameters * shape.element}};
    default:
      break;
  }
  return {CollectiveKind::all_reduce, Axis::data, Bytes{}};
}

CollectiveTime time_of(const CostModel& model, const Schedule& schedule, const Plan& plan, const Topology& topology,
                       PipelineRank rank, const Op& op) {
  if (is_send(op.kind)) {
    const PipelineRank to = destination(schedule, op);
    Route route;
    find_route(topology, gpu_of(plan, representative(plan, rank)), gpu_of(plan, representative(plan, to)), route);
    return transfer_time(op.bytes, route, model.calibration);
  }
  switch (op.kind) {
    case OpKind::reduce_grad:
    case OpKind::reduce_tied:
    case OpKind::gather_params:
    case OpKind::unshard: {
      const Collective work = collective_of(plan, op);
      const GroupShape shape = over_replicas(shape_of(model, work.group),
                                             work.group == Axis::data ? schedule.placement.size() : std::size_t{1});
      const CollectiveTime time = collective_time(work.kind, work.bytes, shape, model.calibration);
      return without(time, hidden_by_buckets(model, schedule, plan, op, time, work.bytes.value));
    }
    default:
      break;
  }
  return none();
}

}  // namespace stagecraft
