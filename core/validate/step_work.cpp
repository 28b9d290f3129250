#include "validate/step_work.hpp"

#include <map>
#include <tuple>

namespace stagecraft {
namespace {

using Key = std::tuple<std::string, KernelKind, Dtype, bool, bool, std::int32_t, std::int64_t, std::int64_t,
                       std::int64_t, std::int64_t, double, double, std::int32_t>;

Key key_of(const Segment& segment) {
  const Kernel& kernel = segment.kernel;
  return {segment.name,         kernel.kind,        kernel.dtype,   kernel.backward, kernel.causal,
          kernel.flash_version, kernel.batch,       kernel.m,       kernel.n,        kernel.k,
          kernel.flops.value,   kernel.bytes.value, kernel.launches};
}

/// How often each body runs on the rank in one step.
std::map<BodyId, double> bodies_of(const Schedule& schedule, PipelineRank rank) {
  std::map<BodyId, double> counts;
  for (const Op& op : schedule.programs[rank.index()]) {
    if (op.body.valid()) ++counts[op.body];
  }
  return counts;
}

void add_exchange(StepWork& work, const Collective& collective, const CostModel& costs, double count) {
  if (is_host_copy(collective.kind)) {
    const CopyRate& rate = collective.kind == CollectiveKind::host_copy ? costs.host : costs.nvme;
    work.copies += count;
    if (rate.shared.value > 0) work.copies_s += count * collective.bytes.value / rate.shared.value;
    return;
  }
  const GroupShape& shape = shape_of(costs, collective.group);
  if (shape.ranks < 2) return;
  work.communications += count;
  work.communication_s += count * collective_time(collective, shape, costs.calibration).total.expected.value;
}

}  // namespace

MeasuredKernel key_of(const StepKernel& kernel) {
  const Kernel& shape = kernel.kernel;
  return {kernel.segment, shape.batch, shape.m, shape.n, shape.k, shape.bytes.value, 0, 0};
}

StepWork step_work(const Plan& plan, const Schedule& schedule, const CostModel& costs, const Topology& topology,
                   PipelineRank rank) {
  StepWork work;
  std::map<Key, StepKernel> kernels;
  for (const auto& [id, runs] : bodies_of(schedule, rank)) {
    for (const BodyPart& part : schedule.bodies.bodies[id.index()].parts) {
      for (const Segment& segment : part.segments) {
        const double count = runs * part.repeat;
        if (segment.is_collective) {
          add_exchange(work, segment.collective, costs, count);
          continue;
        }
        StepKernel& kernel = kernels[key_of(segment)];
        kernel.segment = segment.name;
        kernel.kernel = segment.kernel;
        kernel.count += count;
      }
    }
  }
  for (auto& [key, kernel] : kernels) work.kernels.push_back(std::move(kernel));
  for (const Op& op : schedule.programs[rank.index()]) {
    if (is_compute(op.kind) || is_receive(op.kind) || op.kind == OpKind::reshard) continue;
    const double seconds = time_of(costs, schedule, plan, topology, rank, op).total.expected.value;
    if (seconds <= 0) continue;
    (is_copy(op.kind) ? work.copies_s : work.communication_s) += seconds;
    (is_copy(op.kind) ? work.copies : work.communications) += 1;
  }
  return work;
}

}  // namespace stagecraft
