// Operations that are not compute: sends, reductions of gradients, gathers of parameters.

#include <algorithm>
#include <cmath>

#include "cost/copies_shape.hpp"
#include "cost/cost_model.hpp"
#include "cost/faulty_groups.hpp"
#include "cost/pass_room.hpp"
#include "schedule/body_shape.hpp"
#include "spec/precision.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {
namespace {

GroupShape group_of_op(const CostModel& model, const Schedule& schedule, const Plan& plan, const Topology& topology,
                       const Op& op, Axis axis) {
  const bool over_data = axis == Axis::data || axis == Axis::shard;
  if (schedule.placement.size() < 2 || !over_data || !op.stage.valid()) return shape_of(model, axis);
  return shape_over_copies(schedule, plan, topology, op.stage, axis);
}

PipelineRank destination(const Schedule& schedule, const Op& op) {
  if (op.channel.valid()) return schedule.channels[op.channel.index()].to;
  const std::int32_t next = op.stage.value + (op.kind == OpKind::send_activation ? 1 : -1);
  return rank_of(schedule, Stage{next}, op.replica);
}

/// One behind the other.
void append(const CollectiveTime& more, CollectiveTime& time) {
  time.total.expected += more.total.expected;
  time.total.low += more.total.low;
  time.total.high += more.total.high;
  time.latency += more.latency;
  time.wire_bytes += more.wire_bytes;
  time.shared += more.shared;
}

/// On rings of its own, beside its siblings': the links of the first collective are not its.
CollectiveTime as_wait(CollectiveTime time) {
  time.total = with_siblings(time);
  time.latency = time.shared;
  time.wire_bytes = {};
  return time;
}

/// A rank that keeps a share of the gradients needs the sum of that share only, unless under ZeRO 1 the framework sends
/// all of it.
CollectiveKind reduction_of(const Plan& plan) {
  const bool scatters = plan.run.zero_stage >= 2 || (plan.run.zero_stage == 1 && plan.run.sharding.reduce_scatter);
  return scatters ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
}

/// Bytes per gradient that a reduction moves.
double reduced_bytes(const Plan& plan) {
  if (plan.run.gradient_compression != GradientCompression::none) return gradient_wire_bytes(plan.run);
  return size_of(gradient_dtype(plan.run)).value;
}

/// Under hybrid sharding the replicas of a shard add up what the reduce-scatter left.
void add_replicas(const CostModel& model, const Plan& plan, Bytes scattered, CollectiveTime& time) {
  if (group_size(plan.degrees, Axis::replica) < 2) return;
  const double shards = static_cast<double>(group_size(plan.degrees, Axis::shard));
  const CollectiveTime more = collective_time(CollectiveKind::all_reduce, scattered / shards,
                                              shape_of(model, Axis::replica), model.calibration);
  append(as_wait(more), time);
}

/// The experts' part, over the ranks that hold the same ones, behind the dense one.
void add_experts(const CostModel& model, const Plan& plan, const Op& op, double buckets, CollectiveTime& time) {
  const double parameters = op.stage.valid() ? expert_parameters_per_rank(plan, op.stage) : 0;
  if (parameters <= 0 || group_size(plan.degrees, Axis::expert_data) < 2) return;
  const bool reduces = op.kind == OpKind::reduce_grad;
  const CollectiveKind kind = reduces ? reduction_of(plan) : CollectiveKind::all_gather;
  const double bytes = parameters * (reduces ? reduced_bytes(plan) : bytes_of(recipe_of(plan.run)).compute);
  append(as_wait(collective_time(kind, Bytes{bytes / buckets}, shape_of(model, Axis::expert_data), model.calibration)),
         time);
}

/// What turning gradients into a smaller format and back takes: each is read and written twice.
void add_compression(const CostModel& model, const Plan& plan, double parameters, double buckets,
                     CollectiveTime& time) {
  const double from = size_of(gradient_dtype(plan.run)).value, to = reduced_bytes(plan);
  if (from == to) return;
  Kernel kernel;
  kernel.launches = 2;
  kernel.bytes = Bytes{2 * parameters * (from + to) / buckets};
  const TimeEstimate passes = kernel_time(kernel, model.law);
  CollectiveTime more;
  more.total = passes;
  more.latency = passes.expected;
  more.shared = passes.expected;
  append(more, time);
}

/// A framework that broadcasts every rank's share of the updated parameters by itself pays the host for each.
CollectiveTime with_broadcasts(const CostModel& model, const Plan& plan, const Op& op, CollectiveTime time) {
  if (op.kind != OpKind::gather_params || plan.run.zero_stage != 1 || model.broadcasts.value <= 0) return time;
  for (Seconds* seconds : {&time.total.expected, &time.total.low, &time.total.high, &time.latency, &time.shared}) {
    *seconds += model.broadcasts;
  }
  return time;
}

/// A copy between GPU and host; how far it may be off is a guess: rates are those of pinned memory.
CollectiveTime copy_time(const CostModel& model, Home home, Bytes bytes) {
  const CopyRate& rate = home == Home::nvme ? model.nvme : model.host;
  CollectiveTime time;
  time.algorithm = "copy";
  if (rate.shared.value <= 0) return time;
  const Seconds alone{bytes.value / rate.alone.value};
  time.total = {alone, alone * 0.9, alone * 1.3, Evidence::borrowed};
  time.wire_bytes = bytes;
  time.shared = {bytes.value / rate.shared.value};
  return time;
}

Home home_of(const Plan& plan, OpKind kind) {
  const OffloadSpec& offload = plan.run.offload;
  if (kind == OpKind::offload || kind == OpKind::reload) return offload.activations;
  return kind == OpKind::reload_param ? offload.parameters : Home::host;
}

/// Buckets travel beside compute: gradients behind the stage's last backward, parameters behind its first forward.
bool hides_in_buckets(const OverlapSpec& overlap, const Op& op) {
  if (op.kind == OpKind::reduce_grad || op.kind == OpKind::offload_grad) return overlap.gradient_reduce;
  return op.kind == OpKind::gather_params && op.lane == Lane::data && op.stage.valid() && overlap.parameter_gather;
}

/// What is left of a collective in `buckets` equal parts once the pass is over that hides it. One part cannot overlap.
/// Rates stay: all of the time, also that on the wire, shrinks alike. What the pass takes longer beside it counts as
/// left, too.
CollectiveTime exposed(const CollectiveTime& part, double buckets, PassRoom room) {
  const double share = 1 - 1 / buckets;
  room.work_s *= share;
  room.wait_s *= share;
  const double whole = part.shared.value * buckets;
  const Beside beside = fit(whole - part.shared.value, room);
  const double left = whole - beside.seconds + beside.longer_s;
  const double parts = part.shared.value > 0 ? buckets * left / whole : buckets;
  CollectiveTime time = part;
  time.total.expected = part.total.expected * parts;
  time.total.low = part.total.low * parts;
  time.total.high = part.total.high * parts;
  time.latency = part.latency * parts;
  time.wire_bytes = part.wire_bytes * parts;
  time.shared = part.shared * parts;
  return time;
}

/// In how many equal parts gradients or parameters of a stage travel.
double bucket_count(const Plan& plan, Bytes whole) {
  return std::max(1.0, std::ceil(whole.value / plan.run.gradient_bucket_bytes));
}

/// Gradients leave bucket by bucket as the reduction leaves them, if that runs behind the last backward.
CollectiveTime copy_time(const CostModel& model, const Schedule& schedule, const Plan& plan, const Topology& topology,
                         PipelineRank rank, const Op& op) {
  const Home home = home_of(plan, op.kind);
  if (!hides_in_buckets(plan.run.overlap, op) || schedule.placement.size() > 1) return copy_time(model, home, op.bytes);
  const double buckets = bucket_count(plan, Bytes{parameters_per_rank(plan, op.stage) * reduced_bytes(plan)});
  PassRoom room = room_beside(model, schedule, plan, topology, rank, op, {});
  room.slowdown = 0;  // copies have engines of their own
  return exposed(copy_time(model, home, op.bytes / buckets), buckets, room);
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
  const double experts = op.stage.valid() ? expert_parameters_per_rank(plan, op.stage) : 0;
  const double parameters = op.stage.valid() ? parameters_per_rank(plan, op.stage) - experts : 0;
  switch (op.kind) {
    case OpKind::reduce_grad:
      return {reduction_of(plan), reduction_of(plan) == CollectiveKind::reduce_scatter ? Axis::shard : Axis::data,
              Bytes{parameters * reduced_bytes(plan)}};
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
    const Route route = slowest_route(plan, topology, rank, to);
    return transfer_time(op.bytes, route, model.calibration);
  }
  switch (op.kind) {
    case OpKind::reduce_grad:
    case OpKind::reduce_tied:
    case OpKind::gather_params:
    case OpKind::unshard: {
      const Collective work = collective_of(plan, op);
      const std::size_t copies = schedule.placement.size();
      const GroupShape shape = group_of_op(model, schedule, plan, topology, op, work.group);
      const bool reduces = op.kind == OpKind::reduce_grad;
      const bool in_buckets = hides_in_buckets(plan.run.overlap, op) && copies == 1;
      const double buckets = in_buckets ? bucket_count(plan, work.bytes) : 1.0;
      CollectiveTime time = collective_time(work.kind, work.bytes / buckets, shape, model.calibration);
      if (reduces && work.group == Axis::shard) add_replicas(model, plan, work.bytes / buckets, time);
      if (op.kind != OpKind::reduce_tied) add_experts(model, plan, op, buckets, time);
      if (reduces) add_compression(model, plan, work.bytes.value / reduced_bytes(plan), buckets, time);
      if (in_buckets) {
        time = exposed(time, buckets, room_beside(model, schedule, plan, topology, rank, op, shape));
      }
      return with_broadcasts(model, plan, op, time);
    }
    case OpKind::offload:
    case OpKind::reload:
    case OpKind::offload_grad:
    case OpKind::reload_param:
      return copy_time(model, schedule, plan, topology, rank, op);
    default:
      break;
  }
  return none();
}

}  // namespace stagecraft
