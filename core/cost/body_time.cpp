#include <algorithm>

#include "cost/cost_model.hpp"

namespace stagecraft {
namespace {

// How far times of this part may lie from the expected ones, and the weakest evidence among them.
struct Doubt {
  double low = 0, high = 0;
  Evidence evidence = Evidence::measured;
  void add(const TimeEstimate& time, double scale, double repeat) {
    low += (time.expected.value - time.low.value) * scale * repeat;
    high += (time.high.value - time.expected.value) * scale * repeat;
    if (time.expected.value > 0) evidence = std::max(evidence, time.evidence);
  }
};

struct PartTime {
  std::vector<TimeEstimate> times;
  double kernels = 0, host = 0;
};

// All groups of the axis run their collectives at the same time, on the same NICs; `reached` is the framework's share
// of the achieved rate.
TimeEstimate beside_siblings(const CollectiveTime& time, double reached) {
  const double alone = time.total.expected.value;
  const double factor = (alone > 0 ? time.shared.value / alone : 1) / reached;
  return {time.total.expected * factor, time.total.low * factor, time.total.high * factor, time.total.evidence};
}

PartTime time_part(const CostModel& model, const BodyPart& part) {
  PartTime timed;
  timed.times.reserve(part.segments.size());
  const double of_framework = constant(model.calibration, "collective_efficiency").value;
  for (const Segment& segment : part.segments) {
    if (segment.is_collective) {
      const GroupShape& shape = shape_of(model, segment.collective.group);
      timed.times.push_back(
          beside_siblings(collective_time(segment.collective.kind, segment.collective.bytes, shape, model.calibration),
                          segment.collective.group == Axis::tensor ? of_framework : 1));
      timed.host += model.law.host_launch_s;
      continue;
    }
    timed.times.push_back(kernel_time(segment.kernel, model.law));
    timed.kernels += timed.times.back().expected.value;
    if (segment.kernel.kind != KernelKind::host) timed.host += model.law.host_launch_s * segment.kernel.launches;
  }
  return timed;
}

// What sticks out of the kernels that follow; `free` is what each segment can still hide, and what is used is taken
// off.
double exposed(const BodyPart& part, const PartTime& timed, std::size_t at, std::vector<double>& free) {
  double hidden = 0;
  const double wanted = timed.times[at].expected.value;
  std::int32_t left = part.segments[at].hides_behind;
  for (std::size_t i = at + 1; i < part.segments.size() && left > 0 && hidden < wanted; ++i) {
    if (part.segments[i].is_collective) continue;
    const double used = std::min(free[i], wanted - hidden);
    free[i] -= used;
    hidden += used;
    --left;
  }
  return wanted - hidden;
}

// Overlap of tensor-parallel collectives is a policy of the run; others carry theirs from the start.
bool may_hide(const Segment& segment, const Plan& plan) {
  if (!segment.is_collective || segment.hides_behind == 0) return false;
  return segment.collective.group == Axis::data || plan.run.overlap.tensor;
}

BodyTime time_body(const CostModel& model, const Body& body, const Plan& plan) {
  BodyTime result;
  std::vector<PartTime> parts;
  double kernels = 0, host = 0;
  for (const BodyPart& part : body.parts) {
    parts.push_back(time_part(model, part));
    kernels += parts.back().kernels * part.repeat;
    host += parts.back().host * part.repeat;
  }
  const double stretch = kernels > 0 ? std::max(1.0, host / kernels) : 1.0;
  Doubt doubt;
  for (std::size_t p = 0; p < body.parts.size(); ++p) {
    const BodyPart& part = body.parts[p];
    const double repeat = part.repeat;
    std::vector<SegmentTime>& segments = result.segments.emplace_back();
    segments.reserve(part.segments.size());
    std::vector<double> free;
    for (const TimeEstimate& time : parts[p].times) free.push_back(time.expected.value * stretch);
    for (std::size_t i = 0; i < part.segments.size(); ++i) {
      const bool is_collective = part.segments[i].is_collective;
      double seconds = parts[p].times[i].expected.value * (is_collective ? 1 : stretch);
      if (may_hide(part.segments[i], plan)) seconds = exposed(part, parts[p], i, free);
      segments.push_back({{seconds}, is_collective});
      (is_collective ? result.collectives : result.kernels) += Seconds{seconds * repeat};
      if (parts[p].times[i].expected.value > 0) {
        doubt.add(parts[p].times[i], seconds / parts[p].times[i].expected.value, repeat);
      }
    }
  }
  const Seconds expected = result.kernels + result.collectives;
  result.total = {expected, expected - Seconds{doubt.low}, expected + Seconds{doubt.high}, doubt.evidence};
  return result;
}

}  // namespace

std::vector<BodyTime> time_bodies(const CostModel& model, const Bodies& bodies, const Plan& plan) {
  std::vector<BodyTime> times;
  times.reserve(bodies.bodies.size());
  for (const Body& body : bodies.bodies) times.push_back(time_body(model, body, plan));
  return times;
}

std::vector<BodyTime> time_bodies(const CostModel& model, const Schedule& schedule, const Plan& plan) {
  return time_bodies(model, schedule.bodies, plan);
}

}  // namespace stagecraft
