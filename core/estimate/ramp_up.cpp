#include "estimate/ramp_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/refusal.hpp"
#include "estimate/compute_schedule.hpp"
#include "estimate/estimate.hpp"
#include "plan/plan.hpp"
#include "schedule/graph.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {
namespace {

/// Interleaved schedules want whole groups of micro-batches: of every size on the way, too.
Schedule schedule_of(const Scenario& scenario, const Plan& plan, const CostModel& costs, const Topology& topology) {
  try {
    Findings notes;
    return compute_schedule(scenario, plan, costs, topology, notes);
  } catch (const Refusal& refusal) {
    throw Refusal(scenario.path, {{Severity::error, "ramp-up-schedule", "/batch/ramp_up/increment",
                                   fmt::format("on its way the batch has {} sequences: {}", scenario.run.batch.global,
                                               refusal.findings().front().message),
                                   fmt::format("start and increment that are multiples of {}",
                                               scenario.run.batch.micro * plan.degrees.data * plan.degrees.pipeline)}});
  }
}

double step_of_batch_s(Scenario scenario, std::int64_t batch, const CostModel& costs, const Topology& topology) {
  scenario.run.batch.global = batch;
  const Plan plan = make_plan(scenario);
  const Schedule schedule = lower(schedule_of(scenario, plan, costs, topology), plan);
  const std::int32_t steps = std::max(static_cast<std::int32_t>(plan.run.steps), steps_until_steady(schedule));
  return estimate(plan, schedule, make_graph(schedule), costs, topology, steps).step_time.value;
}

/// Step times at `count` batch sizes from `start` on, `increment` apart.
std::vector<double> step_times_s(const Scenario& scenario, std::int64_t count, const CostModel& costs,
                                 const Topology& topology) {
  constexpr std::int64_t most = 33;
  const RampUpSpec& ramp = *scenario.run.batch.ramp_up;
  const std::int64_t points = std::min(count, most);
  std::vector<std::int64_t> at;
  std::vector<double> known;
  for (std::int64_t i = 0; i < points; ++i) {
    at.push_back(points == 1 ? 0 : i * (count - 1) / (points - 1));
    known.push_back(step_of_batch_s(scenario, ramp.start + at.back() * ramp.increment, costs, topology));
  }
  std::vector<double> times(static_cast<std::size_t>(count), known.front());
  for (std::size_t i = 1; i < at.size(); ++i) {
    for (std::int64_t k = at[i - 1]; k <= at[i]; ++k) {
      const double share = static_cast<double>(k - at[i - 1]) / static_cast<double>(at[i] - at[i - 1]);
      times[static_cast<std::size_t>(k)] = known[i - 1] + share * (known[i] - known[i - 1]);
    }
  }
  return times;
}

}  // namespace

RampUp ramp_up(const Scenario& scenario, const CostModel& costs, const Topology& topology, Seconds step) {
  RampUp result;
  const BatchSpec& batch = scenario.run.batch;
  if (!batch.ramp_up || batch.ramp_up->start >= batch.global) return result;
  const RampUpSpec& ramp = *batch.ramp_up;
  result.sizes = (batch.global - ramp.start) / ramp.increment;
  const double whole_s = step_of_batch_s(scenario, batch.global, costs, topology);
  const double scale = whole_s > 0 ? step.value / whole_s : 1;
  const double of_each = static_cast<double>(ramp.samples) / static_cast<double>(result.sizes);
  const std::vector<double> times = step_times_s(scenario, result.sizes, costs, topology);
  for (std::int64_t i = 0; i < result.sizes; ++i) {
    const double size = static_cast<double>(ramp.start + i * ramp.increment);
    const double steps = std::ceil(of_each / size);
    const double time_s = steps * times[static_cast<std::size_t>(i)] * scale;
    result.steps += steps;
    result.time_s += time_s;
    result.lost_s += time_s - steps * size / static_cast<double>(batch.global) * step.value;
  }
  return result;
}

}  // namespace stagecraft
