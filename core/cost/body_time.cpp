#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "cost/cost_model.hpp"
#include "cost/host_lane.hpp"
#include "cost/measured_range.hpp"
#include "cost/slowdown.hpp"

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
  void add(double seconds, Evidence of, double repeat) {
    low += seconds * repeat;
    high += seconds * repeat;
    if (seconds > 0) evidence = std::max(evidence, of);
  }
};

/// A copy between GPU and host at the rate that is left while all GPUs of the job on the node copy.
TimeEstimate copy_time(const CostModel& model, const Collective& copy) {
  const BytesPerSecond rate = (copy.kind == CollectiveKind::host_copy ? model.host : model.nvme).shared;
  const Seconds time{rate.value > 0 ? copy.bytes.value / rate.value : 0};
  return {time, time * 0.9, time * 1.3, Evidence::borrowed};
}

/// Of a collective: what sticks out of the kernels that follow and what these take longer, and its time beside
/// products.
struct Exposed {
  double seconds = 0, beside_products_s = 0;
};

struct PartTime {
  std::vector<TimeEstimate> times;
  double kernels = 0, host = 0;  // of kernels without a measured time; those with one took the host's share with them
  std::vector<double> gaps;      // before each segment, where the host waits for the GPU; else empty
  std::vector<Exposed> beside;   // of each segment of the part's `beside`
  std::vector<bool> law;         // of each segment: a kernel without a measured time, which runs at the host's pace
  std::vector<double> paced_s;   // of each segment, at that pace
  std::vector<double> slower_s;  // of each segment, on the slowest rank of the job
  double met_s = 0;              // of all kernels, what the ranks of a group meet after
  std::vector<Exposed> exposed;  // of each segment
};

/// What waits in every repeat of a part for the slowest rank of the sharding group: the part's kernels run between two
/// collectives of that group, and each of these ends for all when the last has come.
double wait_in_block(const CostModel& model, const BodyPart& part, const PartTime& timed) {
  const bool meets = std::any_of(part.segments.begin(), part.segments.end(), [](const Segment& segment) {
    return segment.is_collective && segment.collective.group == Axis::shard;
  });
  return meets ? timed.met_s * model.block_wait : 0;
}

TimeEstimate measured_time(const MeasuredKernel& kernel) {
  const double spread = kernel.seconds * kernel.relative_error;
  return {{kernel.seconds}, {kernel.seconds - spread}, {kernel.seconds + spread}, Evidence::measured};
}

TimeEstimate scaled(const TimeEstimate& time, double factor) {
  return {time.expected * factor, time.low * factor, time.high * factor, time.evidence};
}

/// The framework's own collectives over the tensor group reach a share of the achieved rate.
TimeEstimate slower(const TimeEstimate& time, double reached) {
  return scaled(time, 1 / reached);
}

/// The gaps of a part in which the host waits: the pace of its launches is in them. One before a collective is noted
/// with the kernel before it.
void add_gaps(const CostModel& model, const std::vector<Segment>& segments, PartTime& timed) {
  timed.gaps.clear();
  const bool waits = std::any_of(segments.begin(), segments.end(), [](const Segment& segment) {
    return !segment.is_collective && segment.kernel.kind == KernelKind::host_sync;
  });
  if (!waits) return;
  std::vector<LaneStep> steps;
  steps.reserve(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    LaneStep step{timed.times[i].expected.value, model.law.host_launch_s, false, 1};
    if (!segment.is_collective) {
      step.waits = segment.kernel.kind == KernelKind::host_sync;
      step.launches = segment.kernel.launches;
      step.host_s = find_measured(model.calibration, segment) == nullptr ? step.host_s * step.launches : 0;
    }
    steps.push_back(step);
  }
  timed.gaps = gaps_between_launches(steps);
  for (std::size_t i = segments.size(); i-- > 1;) {
    if (segments[i].is_collective) timed.gaps[i - 1] += std::exchange(timed.gaps[i], 0);
  }
  timed.kernels = timed.host = 0;
}

void time_part(const CostModel& model, const std::vector<Segment>& segments, double starved, PartTime& timed) {
  timed.times.clear();
  timed.law.assign(segments.size(), false);
  timed.kernels = timed.host = 0;
  timed.times.reserve(segments.size());
  const double of_framework = model.law.collective_efficiency;
  for (const Segment& segment : segments) {
    if (segment.is_collective) {
      const GroupShape& shape = shape_of(model, segment.collective.group);
      if (is_host_copy(segment.collective.kind)) {
        timed.times.push_back(copy_time(model, segment.collective));
        timed.host += model.law.host_launch_s;
        continue;
      }
      const CollectiveTime time = collective_time(segment.collective, shape, model.calibration);
      timed.times.push_back(segment.collective.group == Axis::tensor ? slower(with_siblings(time), of_framework)
                                                                     : with_siblings(time));
      timed.host += model.law.host_launch_s;
      continue;
    }
    if (const MeasuredKernel* const measured = find_measured(model.calibration, segment)) {
      timed.times.push_back(measured_time(*measured));
      continue;
    }
    timed.law[timed.times.size()] = true;
    timed.times.push_back(kernel_time(segment.kernel, model.law));
    if (segment.kernel.kind == KernelKind::collection) timed.times.back() = scaled(timed.times.back(), starved);
    if (outside_range(segment.kernel, model.calibration)) timed.times.back().evidence = Evidence::borrowed;
    timed.kernels += timed.times.back().expected.value;
    if (!is_host_work(segment.kernel.kind)) timed.host += model.law.host_launch_s * segment.kernel.launches;
  }
  add_gaps(model, segments, timed);
}

bool may_hide(const Segment& segment, const OverlapSpec& overlap) {
  if (!segment.is_collective || segment.hides_behind <= 0) return false;
  switch (segment.collective.group) {
    case Axis::ring:
      return overlap.context;
    case Axis::secondary:
    case Axis::expert_data:
    case Axis::shard:
    case Axis::replica:
      if (is_host_copy(segment.collective.kind)) return true;
      return segment.collective.kind == CollectiveKind::all_gather ? overlap.parameter_gather : overlap.gradient_reduce;
    default:
      return overlap.tensor;
  }
}

Seconds& served_by(ExposedTime& exposed, const Collective& collective) {
  if (is_host_copy(collective.kind)) return exposed.copies;
  switch (collective.group) {
    case Axis::context:
    case Axis::ulysses:
    case Axis::ring:
      return exposed.context;
    case Axis::expert:
      return exposed.expert;
    case Axis::data:
    case Axis::shard:
    case Axis::replica:
    case Axis::secondary:
    case Axis::expert_data:
    case Axis::embedding:
      return exposed.data;
    case Axis::tensor:
    case Axis::expert_tensor:
    case Axis::pipeline:
      return exposed.tensor;
  }
  return exposed.tensor;
}

// What one collective uses of the kernels' time, the next one cannot.
Exposed exposed(const std::vector<Segment>& segments, const PartTime& timed, std::size_t at, const Slowdown& slower_by,
                std::vector<double>& free_s) {
  Exposed out{timed.times[at].expected.value, 0};
  double longer_s = 0;
  std::int32_t left = segments[at].hides_behind;
  for (std::size_t i = at + 1; i < segments.size() && left > 0; ++i) {
    if (segments[i].is_collective) continue;
    const double slowdown = slowdown_of(segments[i].kernel, slower_by);
    const double beside = std::min(out.seconds, free_s[i] * (1 + slowdown));
    free_s[i] -= beside / (1 + slowdown);
    longer_s += beside * slowdown / (1 + slowdown);
    out.seconds -= beside;
    if (segments[i].kernel.kind == KernelKind::gemm) out.beside_products_s += beside;
    --left;
  }
  out.seconds += longer_s;
  return out;
}

/// Room for the parts of a body, kept from one to the next.
struct Workspace {
  double starved = 1;  // of a pause of the garbage collector, that finds no launched kernel
  std::vector<PartTime> parts;
  std::vector<double> free_s;  // of a part's segments
  PartTime beside;             // of a part's segments and the other pass's
};

/// What sticks out of each exchange where two passes run together. While the passes send something else an exchange
/// rests: both want the links. What else hides behind the same kernels (ZeRO's traffic) is not taken off, and where the
/// host sets the pace there is more room than this.
void time_beside(const CostModel& model, const BodyPart& part, const Slowdown& slowdown, PartTime& timed,
                 Workspace& work) {
  time_part(model, part.beside, work.starved, work.beside);
  std::vector<double>& free_s = work.free_s;
  free_s.clear();
  for (const TimeEstimate& time : work.beside.times) free_s.push_back(time.expected.value * (1 + model.slowest));
  timed.beside.assign(part.beside.size(), {});
  for (std::size_t i = 0; i < part.beside.size(); ++i) {
    if (part.beside[i].hides_behind > 0) {
      timed.beside[i] = exposed(part.beside, work.beside, i, slowdown, free_s);
    }
  }
}

/// Nothing if `segment` is none of the exchanges that run beside another pass.
std::optional<Exposed> exposed_beside(const BodyPart& part, const Segment& segment, const PartTime& timed) {
  for (std::size_t i = 0; i < part.beside.size(); ++i) {
    if (part.beside[i].hides_behind > 0 && std::string_view(part.beside[i].name) == segment.name)
      return timed.beside[i];
  }
  return std::nullopt;
}

/// The pace of a body's kernels: they take `stretch` times as long as the GPU needs, `apart` times if nothing hid.
struct Pace {
  double stretch = 1, apart = 1;
};

/// Sets what kernels take at a pace, and how much longer on the slowest rank. Ranks differ in what they compute and
/// launch; while the host launches on beside what is hidden they do no more of it, so that counts `apart`.
void set_pace(const CostModel& model, const BodyPart& part, Pace at, PartTime& timed) {
  timed.paced_s.clear();
  timed.slower_s.clear();
  timed.met_s = 0;
  for (std::size_t i = 0; i < part.segments.size(); ++i) {
    const Segment& segment = part.segments[i];
    const bool at_host_pace = timed.law[i] && timed.gaps.empty();
    const double alone = timed.times[i].expected.value, gap = timed.gaps.empty() ? 0 : timed.gaps[i];
    const double apart_s = alone * (at_host_pace ? at.apart : 1) + gap;
    const bool of_rank = !segment.is_collective && !is_host_work(segment.kernel.kind);
    timed.paced_s.push_back(alone * (at_host_pace ? at.stretch : 1) + gap);
    timed.slower_s.push_back(of_rank ? apart_s * model.slowest : 0);  // a measured time is that of the mean rank
    if (!segment.is_collective) timed.met_s += apart_s + timed.slower_s.back();
  }
}

/// Sets what a part's segments take, and of each collective what sticks out. It hides behind the part's own kernels, or
/// beside another pass, if at all.
void time_exposed(const BodyPart& part, const OverlapSpec& overlap, const Slowdown& slowdown, PartTime& timed,
                  std::vector<double>& free_s) {
  free_s.clear();
  for (std::size_t i = 0; i < part.segments.size(); ++i) free_s.push_back(timed.paced_s[i] + timed.slower_s[i]);
  timed.exposed.assign(part.segments.size(), {});
  for (std::size_t i = 0; i < part.segments.size(); ++i) {
    const Segment& segment = part.segments[i];
    timed.exposed[i].seconds = timed.paced_s[i] + timed.slower_s[i];
    if (!segment.is_collective) continue;
    if (may_hide(segment, overlap)) {
      // Copies have engines of their own: no kernel is slower beside one.
      const bool copies = is_host_copy(segment.collective.kind);
      timed.exposed[i] = exposed(part.segments, timed, i, copies ? Slowdown{} : slowdown, free_s);
    }
    if (!part.beside.empty()) timed.exposed[i] = exposed_beside(part, segment, timed).value_or(timed.exposed[i]);
  }
}

/// What a body's collectives show at a pace. Leaves its parts timed at it.
double shown(const CostModel& model, const Body& body, Pace at, const OverlapSpec& overlap, const Slowdown& slowdown,
             Workspace& work) {
  double seconds = 0;
  for (std::size_t p = 0; p < body.parts.size(); ++p) {
    const BodyPart& part = body.parts[p];
    PartTime& timed = work.parts[p];
    set_pace(model, part, at, timed);
    time_exposed(part, overlap, slowdown, timed, work.free_s);
    for (std::size_t i = 0; i < part.segments.size(); ++i) {
      if (part.segments[i].is_collective) seconds += timed.exposed[i].seconds * part.repeat;
    }
  }
  return seconds;
}

/// Times a body's parts at the pace at which its kernels and what its collectives show take as long as the host
/// launches, since the host launches on while the GPU waits for a collective; at the kernels' own pace where that takes
/// longer. `whole_s` is what the collectives take if none hides. The further apart kernels lie, the less sticks out,
/// but never less by more than they lie apart: the sum rises with the stretch, and is never above what it is if nothing
/// hides.
void time_at_pace(const CostModel& model, const Body& body, double kernels_s, double host_s, double whole_s,
                  const OverlapSpec& overlap, const Slowdown& slowdown, Workspace& work) {
  Pace at;
  const auto lasts = [&](double stretch) {
    at.stretch = stretch;
    return kernels_s * stretch + shown(model, body, at, overlap, slowdown, work);
  };
  if (kernels_s > 0) at.apart = std::max(1.0, (host_s - whole_s) / kernels_s);
  constexpr double rounding = 1e-12;
  if (lasts(at.apart) >= host_s * (1 - rounding) || kernels_s <= 0) return;
  double low = at.apart, high = host_s / kernels_s;
  const double least_shown = lasts(high) - host_s;
  high = std::max(low, (host_s - least_shown) / kernels_s);
  if (lasts(high) <= host_s * (1 + rounding)) return;  // just as much sticks out there
  constexpr int halvings = 40;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (lasts(middle) < host_s ? low : high) = middle;
  }
}

BodyTime time_body(const CostModel& model, const Body& body, const Plan& plan, Workspace& work) {
  BodyTime result;
  std::vector<PartTime>& parts = work.parts;
  if (parts.size() < body.parts.size()) parts.resize(body.parts.size());
  const Slowdown slowdown = slowdown_beside(model, plan.run.overlap);
  double kernels = 0, host = 0, whole = 0;
  for (std::size_t p = 0; p < body.parts.size(); ++p) {
    const BodyPart& part = body.parts[p];
    time_part(model, part.segments, work.starved, parts[p]);
    kernels += parts[p].kernels * part.repeat;
    host += parts[p].host * part.repeat;
    if (!part.beside.empty()) time_beside(model, part, slowdown, parts[p], work);
    for (std::size_t i = 0; i < part.segments.size(); ++i) {
      if (part.segments[i].is_collective) whole += parts[p].times[i].expected.value * part.repeat;
    }
  }
  time_at_pace(model, body, kernels, host, whole, plan.run.overlap, slowdown, work);
  result.segments.reserve(body.parts.size());
  Doubt doubt;
  for (std::size_t p = 0; p < body.parts.size(); ++p) {
    const BodyPart& part = body.parts[p];
    const PartTime& timed = parts[p];
    const double repeat = part.repeat;
    std::vector<SegmentTime>& segments = result.segments.emplace_back();
    segments.reserve(part.segments.size());
    double wait = wait_in_block(model, part, timed);
    result.waiting += Seconds{wait * repeat};
    for (std::size_t i = 0; i < part.segments.size(); ++i) {
      const Segment& segment = part.segments[i];
      const double alone = timed.times[i].expected.value;
      result.launch_wait += Seconds{std::max(0.0, timed.paced_s[i] - alone) * repeat};
      result.waiting += Seconds{timed.slower_s[i] * repeat};
      const Exposed& out = timed.exposed[i];
      double seconds = out.seconds;
      doubt.add(out.beside_products_s * slowdown.gemm_doubt, slowdown.evidence, repeat);
      if (segment.is_collective && segment.collective.group == Axis::shard) {
        seconds += wait;  // at the part's first meeting
        wait = 0;
      }
      segments.push_back({{seconds}, segment.is_collective});
      (segment.is_collective ? result.collectives : result.kernels) += Seconds{seconds * repeat};
      if (segment.is_collective) served_by(result.exposed, segment.collective) += Seconds{seconds * repeat};
      if (alone > 0) doubt.add(timed.times[i], seconds / alone, repeat);
    }
  }
  const Seconds expected = result.kernels + result.collectives;
  result.total = {expected, expected - Seconds{doubt.low}, expected + Seconds{doubt.high}, doubt.evidence};
  return result;
}

bool collects(const Body& body) {
  for (const BodyPart& part : body.parts) {
    for (const Segment& segment : part.segments) {
      if (!segment.is_collective && segment.kernel.kind == KernelKind::collection) return true;
    }
  }
  return false;
}

double launches_of(const Body& body) {
  double launches = 0;
  for (const BodyPart& part : body.parts) {
    for (const Segment& segment : part.segments) {
      launches += (segment.is_collective ? 1 : segment.kernel.launches) * part.repeat;
    }
  }
  return launches;
}

/// Of a pause of the garbage collector, what is left once the GPU has worked off the queue: all of it where the GPU
/// waits for the host anyway. Mean over the bodies by their times; a CUDA graph is one launch.
double starved_share(const RunSpec& run, const Bodies& bodies, const std::vector<BodyTime>& times) {
  double starved = 0, whole = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double seconds = times[i].total.expected.value;
    if (seconds <= 0) continue;
    const double queued_s = launch_queue * seconds / (run.cuda_graphs ? 1 : launches_of(bodies.bodies[i]));
    const double left = times[i].launch_wait.value > 0 ? 1 : std::max(0.0, 1 - queued_s / run.host.collection_pause_s);
    starved += seconds * left;
    whole += seconds;
  }
  return whole > 0 ? starved / whole : 1;
}

}  // namespace

std::vector<BodyTime> time_bodies(const CostModel& model, const Bodies& bodies, const Plan& plan) {
  std::vector<BodyTime> times(bodies.bodies.size());
  Workspace work;
  std::vector<std::size_t> collecting;  // need the times of the others
  const bool pauses = plan.run.host.collection_pause_s > 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (pauses && collects(bodies.bodies[i])) {
      collecting.push_back(i);
    } else {
      times[i] = time_body(model, bodies.bodies[i], plan, work);
    }
  }
  if (!collecting.empty()) work.starved = starved_share(plan.run, bodies, times);
  for (const std::size_t i : collecting) times[i] = time_body(model, bodies.bodies[i], plan, work);
  return times;
}

std::vector<BodyTime> time_bodies(const CostModel& model, const Schedule& schedule, const Plan& plan) {
  return time_bodies(model, schedule.bodies, plan);
}

}  // namespace stagecraft
