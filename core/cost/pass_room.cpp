#include "cost/pass_room.hpp"

#include <algorithm>

#include "cost/slowdown.hpp"
#include "topology/host_link.hpp"

namespace stagecraft {
namespace {

const Op* find_pass(const std::vector<Op>& program, const Op& of) {
  const bool gradients = of.kind == OpKind::reduce_grad || of.kind == OpKind::offload_grad;
  const auto hides = [&](const Op& other) {
    const bool kind =
        gradients ? other.kind == OpKind::backward || other.kind == OpKind::weight_grad : other.kind == OpKind::forward;
    return kind && other.stage == of.stage && other.body.valid();
  };
  const auto last = std::find_if(program.rbegin(), program.rend(), hides);
  return last == program.rend() ? nullptr : &*last;
}

/// Of the same stage and micro-batch; nullptr if the rank runs none.
const Op* find_beside(const std::vector<Op>& program, OpKind kind, const Op& pass) {
  const auto found = std::find_if(program.begin(), program.end(), [&](const Op& other) {
    return other.kind == kind && other.stage == pass.stage && other.replica == pass.replica &&
           other.micro_batch == pass.micro_batch;
  });
  return found == program.end() ? nullptr : &*found;
}

BodyTime time_of_body(const CostModel& model, const Schedule& schedule, const Plan& plan, BodyId body) {
  Bodies one;
  one.bodies.push_back(schedule.bodies.bodies[body.index()]);
  return time_bodies(model, one, plan).front();
}

/// Of a pass, the time in which its own collectives send through the NICs.
double sending_s(const CostModel& model, const ExposedTime& exposed) {
  const auto across = [&](Axis axis, Seconds time) { return shape_of(model, axis).nodes > 1 ? time.value : 0; };
  return across(Axis::tensor, exposed.tensor) + across(Axis::context, exposed.context) +
         across(Axis::expert, exposed.expert) + across(Axis::shard, exposed.data);
}

BytesPerSecond copy_rate(const CostModel& model, const Plan& plan) {
  return (plan.run.offload.activations == Home::nvme ? model.nvme : model.host).shared;
}

/// For how long the copy of its activations runs from the begin of the pass on, which ends no sooner. A reload starts
/// with the recompute before its backward pass. A weight gradient has no copy of its own.
double copy_beside(const CostModel& model, const Schedule& schedule, const Plan& plan, const std::vector<Op>& program,
                   const Op& pass) {
  if (plan.run.offload.activations == Home::gpu || pass.kind == OpKind::weight_grad) return 0;
  const bool forward = pass.kind == OpKind::forward;
  const Op* const copy = find_beside(program, forward ? OpKind::offload : OpKind::reload, pass);
  const double rate = copy_rate(model, plan).value;
  if (copy == nullptr || rate <= 0) return 0;
  const Op* const again = forward ? nullptr : find_beside(program, OpKind::recompute, pass);
  const bool runs = again != nullptr && again->body.valid();
  const double before = runs ? time_of_body(model, schedule, plan, again->body).total.expected.value : 0;
  return std::max(0.0, copy->bytes.value / rate - before);
}

/// Of the wire between a GPU and its host, what the copy of its activations leaves to a group's traffic: all if the
/// traffic takes other wires. Otherwise traffic is taken to fill the wire, since a NIC is about as fast.
double left_of_wire(const CostModel& model, const Plan& plan, const Topology& topology, PipelineRank rank,
                    const GroupShape& traffic) {
  if (traffic.nodes < 2 && (traffic.ranks < 2 || traffic.inside != LinkKind::pcie)) return 1;
  const GpuId gpu = gpu_of(plan, representative(plan, rank));
  const NodeWiring& wiring = wiring_of(topology, node_of(topology, gpu));
  const auto local = static_cast<std::size_t>(gpu.value % topology.gpus_per_node);
  const std::vector<std::int32_t>& out = wiring.to_nic[local];
  const std::vector<std::vector<std::int32_t>> ways = ways_to_host(wiring.wired);
  double left = 1;
  for (const std::int32_t link : ways[local]) {
    const bool shared = traffic.nodes < 2 || std::find(out.begin(), out.end(), link) != out.end();
    const BytesPerSecond wire = wiring.node_links[static_cast<std::size_t>(link)].achieved;
    if (shared) left = std::min(left, std::max(0.0, 1 - copy_rate(model, plan).value / wire.value));
  }
  return left;
}

}  // namespace

PassRoom room_beside(const CostModel& model, const Schedule& schedule, const Plan& plan, const Topology& topology,
                     PipelineRank rank, const Op& op, const GroupShape& traffic) {
  const std::vector<Op>& program = schedule.programs[rank.index()];
  const Op* const pass = find_pass(program, op);
  if (pass == nullptr) return {};
  const BodyTime time = time_of_body(model, schedule, plan, pass->body);
  const double pass_s = time.total.expected.value;
  PassRoom room;
  room.slowdown =
      mean_slowdown(schedule.bodies.bodies[pass->body.index()], time, slowdown_beside(model, plan.run.overlap));
  const double copy_s = copy_beside(model, schedule, plan, program, *pass);
  const double left = copy_s > 0 ? left_of_wire(model, plan, topology, rank, traffic) : 1;
  const double beside_copy = pass_s > 0 ? std::min(1.0, copy_s / pass_s) : 0;
  room.work_s = std::max(0.0, pass_s - sending_s(model, time.exposed)) * (1 - beside_copy * (1 - left));
  room.wait_s = std::max(0.0, copy_s - pass_s) * left;
  return room;
}

Beside fit(double wanted_s, const PassRoom& room) {
  const double slowdown = room.slowdown;
  const double at_work = std::min(wanted_s, room.work_s * (1 + slowdown));
  const double lost = at_work * slowdown / (1 + slowdown);
  const double for_nothing = std::min(lost, room.wait_s);
  const double in_wait = std::min(wanted_s - at_work, room.wait_s - for_nothing);
  return {at_work + in_wait, lost - for_nothing};
}

}  // namespace stagecraft
