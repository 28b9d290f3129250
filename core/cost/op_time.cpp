// Operations that are not compute: sends, reductions of gradients, gathers of parameters.

#include "cost/cost_model.hpp"
#include "schedule/body_shape.hpp"
#include "spec/recipe.hpp"

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

/// Under hybrid sharding the replicas of a shard add up what the reduce-scatter left.
void add_replicas(const CostModel& model, const Plan& plan, const Collective& scattered, CollectiveTime& time) {
  if (group_size(plan.degrees, Axis::replica) < 2) return;
  const double shards = static_cast<double>(group_size(plan.degrees, Axis::shard));
  const CollectiveTime more =
      collective_time(CollectiveKind::all_reduce, scattered.bytes / shards, model.replica, model.calibration);
  time.total.expected += more.total.expected;
  time.total.low += more.total.low;
  time.total.high += more.total.high;
  time.latency += more.latency;
  time.wire_bytes += more.wire_bytes;
  time.shared += more.shared;
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
      return {plan.run.zero_stage >= 1 ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
              plan.run.zero_stage >= 1 ? Axis::shard : Axis::data, Bytes{parameters * shape.gradient}};
    case OpKind::reduce_tied:
      return {CollectiveKind::all_reduce, Axis::embedding,
              Bytes{static_cast<double>(shape.vocabulary) * static_cast<double>(shape.hidden) * shape.gradient}};
    case OpKind::gather_params:
    case OpKind::unshard:
      return {CollectiveKind::all_gather, Axis::shard, Bytes{parameters * bytes_of(recipe_of(plan.run)).compute}};
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
      const GroupShape shape = over_replicas(
          shape_of(model, work.group),
          work.group == Axis::data || work.group == Axis::shard ? schedule.placement.size() : std::size_t{1});
      CollectiveTime time = collective_time(work.kind, work.bytes, shape, model.calibration);
      if (op.kind == OpKind::reduce_grad && work.group == Axis::shard) add_replicas(model, plan, work, time);
      return time;
    }
    default:
      break;
  }
  return none();
}

}  // namespace stagecraft
