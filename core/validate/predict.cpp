// One record: scenario, plan, schedule, and the figures that the record has measured.

#include "validate/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/input_error.hpp"
#include "estimate/estimate.hpp"
#include "memory/allocator.hpp"
#include "validate/bubble.hpp"
#include "validate/rehearsed.hpp"
#include "validate/tuned.hpp"

namespace stagecraft {
namespace {

bool names_one_of(const std::vector<std::string>& uses, std::initializer_list<const char*> wanted) {
  return std::any_of(uses.begin(), uses.end(), [&](const std::string& use) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const char* word) { return use == word; });
  });
}

bool step_time_is_of_use(const Record& record) {
  return record.uses.empty() || names_one_of(record.uses, {"throughput", "throughput-noisy", "scaling", "schedule",
                                                           "cp", "moe", "tp-overlap"});
}

/// A run whose step was timed, or whose memory was read, did fit.
std::optional<bool> measured_oom(const Record& record) {
  if (record.measured.oom) return record.measured.oom;
  if (record.kind != "measured") return std::nullopt;
  const bool ran = record.measured.step_time_s && step_time_is_of_use(record);
  return ran || !record.measured.memory.empty() ? std::optional<bool>(false) : std::nullopt;
}

void skip(Outcome& outcome, const char* quantity, std::string reason) {
  outcome.skipped.push_back({quantity, std::move(reason)});
}

void compare_step_time(Outcome& outcome, const Rehearsed& run, const StepTimer& timer) {
  const Graph graph = make_graph(run.schedule);
  const Estimate estimated =
      estimate(run.plan, run.schedule, graph, *run.costs, run.topology, steps_until_steady(run.schedule));
  double predicted = estimated.step_time.value;
  if (timer) {
    const std::optional<double> told = timer(run, graph);
    if (!told) return skip(outcome, "step_time", "the simulation did not end");
    predicted = *told;
  }
  const double measured = *outcome.record.measured.step_time_s;
  outcome.step_time = Comparison{predicted, measured, predicted / measured - 1};
  const double low = longest_path(graph, estimated.costs.low_s).makespan_s;
  const double high = longest_path(graph, estimated.costs.high_s).makespan_s;
  const double middle = longest_path(graph, estimated.costs.expected_s).makespan_s;
  if (middle > 0) outcome.step_time_interval = Interval{predicted * low / middle, predicted * high / middle};
}

/// Of a peak, what the reading shows.
double as_read(const MemoryPeak& peak, const Plan& plan, MemoryReading reading) {
  const AllocatorView view = allocator_view(plan, peak);
  switch (reading) {
    case MemoryReading::allocated:
      return view.allocated.value;
    case MemoryReading::reserved:
      return view.reserved.value;
    case MemoryReading::device:
      break;
  }
  return view.device.value;
}

const MemoryPeak& peak_of(const std::vector<MemoryPeak>& peaks, MemoryOf rank) {
  const auto fuller = [](const MemoryPeak& a, const MemoryPeak& b) { return a.peak < b.peak; };
  switch (rank) {
    case MemoryOf::first:
      return peaks.front();
    case MemoryOf::middle:
      return peaks[peaks.size() / 2];
    case MemoryOf::last:
      return peaks.back();
    case MemoryOf::smallest:
      return *std::min_element(peaks.begin(), peaks.end(), fuller);
    case MemoryOf::largest:
      break;
  }
  return *std::max_element(peaks.begin(), peaks.end(), fuller);
}

void compare_memory(Outcome& outcome, const Rehearsed& run) {
  const std::vector<MemoryPeak> peaks = memory_peaks(run.plan, run.schedule);
  for (const RecordReading& reading : outcome.record.measured.memory) {
    const double predicted =
        as_read(peak_of(peaks, reading.rank), run.plan, reading.kind) + outcome.mapping.more_workspace;
    MemoryComparison& comparison = outcome.memory.emplace_back();
    comparison.predicted = predicted;
    comparison.measured = reading.bytes;
    comparison.error = predicted / reading.bytes - 1;
    comparison.kind = reading.kind;
    comparison.rank = reading.rank;
  }
  if (const auto measured = measured_oom(outcome.record)) {
    const MemoryPeak& peak = peak_of(peaks, MemoryOf::largest);
    const AllocatorView view = allocator_view(run.plan, peak);
    const bool close = verdict_of(view, peak.limit) == FitVerdict::close;
    outcome.oom = OomComparison{view.wanted > peak.limit, *measured, close};
  }
}

void compare_bubble(Outcome& outcome, const Scenario& scenario) {
  if (!outcome.record.measured.bubble) return;
  const RunSpec& run = scenario.run;
  const std::int64_t micro_batches = run.batch.global / (run.batch.micro * run.parallel.data);
  const auto predicted = bubble_from_stage_times(outcome.record, run.parallel, run.schedule, micro_batches);
  if (!predicted) return skip(outcome, "bubble", "the record gives no times of its stages");
  const double measured = *outcome.record.measured.bubble;
  outcome.bubble = Comparison{*predicted, measured, *predicted - measured};
}

void compare(Outcome& outcome, const Scenario& scenario, const Library& library, const StepTimer& timer) {
  const RecordMeasured& measured = outcome.record.measured;
  compare_bubble(outcome, scenario);
  bool wants_step_time = measured.step_time_s && *measured.step_time_s > 0;
  if (wants_step_time && !step_time_is_of_use(outcome.record)) {
    wants_step_time = false;
    skip(outcome, "step_time", "the source recommends the record for other figures only");
  }
  if (wants_step_time && !outcome.mapping.no_step_time.empty()) {
    wants_step_time = false;
    skip(outcome, "step_time", outcome.mapping.no_step_time);
  }
  bool wants_memory = !measured.memory.empty() || measured_oom(outcome.record);
  if (wants_memory && !outcome.mapping.no_memory.empty()) {
    wants_memory = false;
    skip(outcome, "memory", outcome.mapping.no_memory);
  }
  if (!wants_step_time && !wants_memory) {
    if (!outcome.bubble && outcome.skipped.empty()) skip(outcome, "record", "it holds no figure that is compared");
    return;
  }
  const Rehearsed run = rehearse(outcome.record, scenario, outcome.mapping, library);
  if (wants_step_time) compare_step_time(outcome, run, timer);
  if (wants_memory) compare_memory(outcome, run);
}

}  // namespace

std::int64_t passes_of(const Scenario& scenario) {
  const RunSpec& run = scenario.run;
  const std::int64_t micro_batches = run.batch.global / std::max<std::int64_t>(run.batch.micro * run.parallel.data, 1);
  return 2 * run.parallel.pipeline * run.parallel.virtual_stages * std::max<std::int64_t>(micro_batches, 1);
}

Outcome predict(const Record& record, const Library& library, std::int64_t& passes_left, const StepTimer& timer) {
  Outcome outcome;
  outcome.record = record;
  outcome.mapping = map_record(record);
  if (!outcome.mapping.reason.empty()) {
    skip(outcome, "record", outcome.mapping.reason);
    return outcome;
  }
  try {
    const TunedLayout tuned = fastest_layout(record, outcome.mapping, library);
    if (tuned.micro || tuned.virtual_stages) outcome.mapping = map_record(record, tuned);
    Scenario scenario = parse_scenario(outcome.mapping.scenario, record.id, {}, library);
    for (const Finding& finding : check_feasible(scenario)) {
      if (finding.severity != Severity::error) continue;
      skip(outcome, "record", finding.message);
      return outcome;
    }
    const std::int64_t passes = passes_of(scenario);
    if (passes > most_passes_of_a_record || passes > passes_left) {
      skip(outcome, "record", fmt::format("{} forward and backward passes are more than are played", passes));
      return outcome;
    }
    passes_left -= passes;
    scenario = scenario_of(record, outcome.mapping, library);
    compare(outcome, scenario, library, timer);
  } catch (const std::invalid_argument& error) {  // a profile without the law of a kernel
    skip(outcome, "record", error.what());
  } catch (const InputError& error) {
    skip(outcome, "record", error.problems().empty() ? error.what() : error.problems().front().expected);
    if (!error.problems().empty() && !error.problems().front().pointer.empty()) {
      outcome.skipped.back().reason = error.problems().front().pointer + ": " + outcome.skipped.back().reason;
    }
  }
  return outcome;
}

}  // namespace stagecraft
