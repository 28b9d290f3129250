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
  double kernels = 0, host = 0;  // of kernels without a measured time; those with one took the host's share with them
};

TimeEstimate measured_time(const MeasuredKernel& kernel) {
  const double spread = kernel.seconds * kernel.relative_error;
  return {{kernel.seconds}, {kernel.seconds - spread}, {kernel.seconds + spread}, Evidence::measured};
}

PartTime time_part(const CostModel& model, const BodyPart& part) {
  PartTime timed;
  timed.times.reserve(part.segments.size());
  for (const Segment& segment : part.segments) {
    if (segment.is_collective) {
      const GroupShape& shape = shape_of(model, segment.collective.group);
      timed.times.push_back(
          collective_time(segment.collective.kind, segment.collective.bytes, shape, model.calibration).total);
      timed.host += model.law.host_launch_s;
      continue;
    }
    if (const MeasuredKernel* const measured = find_measured(model.calibration, segment)) {
      timed.times.push_back(measured_time(*measured));
      continue;
    }
    timed.times.push_back(kernel_time(segment.kernel, model.law));
    timed.kernels += timed.times.back().expected.value;
    if (segment.kernel.kind != KernelKind::host) timed.host += model.law.host_launch_s * segment.kernel.launches;
  }
  return timed;
}

// What sticks out of the kernels that follow.
double exposed(const BodyPart& part, const PartTime& timed, std::size_t at) {
  double hidden = 0;
  std::int32_t left = part.segments[at].hides_behind;
  for (std::size_t i = at + 1; i < part.segments.size() && left > 0; ++i) {
    if (part.segments[i].is_collective) continue;
    hidden += timed.times[i].expected.value;
    --left;
  }
  return std::max(0.0, timed.times[at].expected.value - hidden);
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
    for (std::size_t i = 0; i < part.segments.size(); ++i) {
      const bool is_collective = part.segments[i].is_collective;
      const bool at_host_pace = !is_collective && find_measured(model.calibration, part.segments[i]) == nullptr;
      double seconds = parts[p].times[i].expected.value * (at_host_pace ? stretch : 1);
      if (is_collective && plan.run.overlap.tensor && part.segments[i].hides_behind > 0) {
        seconds = exposed(part, parts[p], i);
      }
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
