#include "validate/tuned.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/input_error.hpp"
#include "estimate/estimate.hpp"
#include "memory/allocator.hpp"
#include "validate/predict.hpp"

namespace stagecraft {
namespace {

/// The scenario with as few recomputed blocks as make it fit; with every block if that does not help.
Scenario with_open_recompute(const Record& record, Mapping& mapping, Scenario scenario, const Library& library) {
  const std::int64_t stages = scenario.run.parallel.pipeline * scenario.run.parallel.virtual_stages;
  const std::int64_t most = (scenario.model.blocks + stages - 1) / std::max<std::int64_t>(stages, 1);
  std::int64_t low = 0, high = most;  // the answer is in [low, high]
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    scenario.run.recompute = middle > 0 ? Recompute::full : Recompute::none;
    scenario.run.recompute_scope = RecomputeScope::first_blocks;
    scenario.run.recompute_blocks = std::max<std::int64_t>(middle, 1);
    if (may_fit(rehearse(record, scenario, mapping, library))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  set_recomputed_blocks(mapping, low);
  return parse_scenario(mapping.scenario, record.id, {}, library);
}

struct Tried {
  FitVerdict verdict = FitVerdict::fits;  // of the fullest rank
  double seconds = 0;                     // of a step
};

/// Nobody tunes a run into the last twentieth of its memory. That the run was measured means that some layout fits;
/// where none is predicted to, memory does not choose.
bool is_better(const Tried& a, const Tried& b) {
  return a.verdict != b.verdict ? a.verdict < b.verdict : a.seconds < b.seconds;
}

FitVerdict verdict_of(const Rehearsed& run) {
  FitVerdict worst = FitVerdict::fits;
  for (const MemoryPeak& peak : memory_peaks(run.plan, run.schedule))
    worst = std::max(worst, verdict_of(allocator_view(run.plan, peak), peak.limit));
  return worst;
}

/// Nothing if the layout cannot run, or is too long to be tried.
std::optional<Tried> try_layout(const Record& record, const TunedLayout& layout, const Library& library) {
  constexpr std::int64_t most_passes = most_passes_of_a_record / 4;
  Mapping mapping = map_record(record, layout);
  if (!mapping.reason.empty()) return std::nullopt;
  try {
    const Scenario plain = parse_scenario(mapping.scenario, record.id, {}, library);
    if (has_errors(check_feasible(plain)) || passes_of(plain) > most_passes) return std::nullopt;
    const Rehearsed run = rehearse(record, scenario_of(record, mapping, library), mapping, library);
    if (!run.costs) return std::nullopt;
    const Graph graph = make_graph(run.schedule);
    const Estimate estimated =
        estimate(run.plan, run.schedule, graph, *run.costs, run.topology, steps_until_steady(run.schedule));
    return Tried{verdict_of(run), estimated.step_time.value};
  } catch (const InputError&) {  // the schedule refuses this number of virtual stages
    return std::nullopt;
  } catch (const std::invalid_argument&) {  // a profile without the law of a kernel
    return std::nullopt;
  }
}

using Choices = std::vector<std::optional<std::int64_t>>;

Choices micros_of(const Mapping& mapping) {
  return mapping.micro_is_open ? Choices{1, 2, 4, 8} : Choices{std::nullopt};
}

Choices virtual_stages_of(const Record& record, const Mapping& mapping) {
  if (!mapping.virtual_stages_are_open) return {std::nullopt};
  constexpr std::int64_t most = 64;
  const std::int64_t blocks = record.model.layers.value_or(0), ranks = record.parallel.pipeline.value_or(1);
  Choices choices{1};
  for (std::int64_t chunks = 2; chunks <= std::min(most, (blocks + 2) / ranks); ++chunks) {
    // With embedding and head as blocks of their own, or without.
    if (blocks % (ranks * chunks) == 0 || (blocks + 2) % (ranks * chunks) == 0) choices.push_back(chunks);
  }
  return choices;
}

}  // namespace

bool may_fit(const Rehearsed& run) {
  return verdict_of(run) != FitVerdict::does_not_fit;
}

Scenario scenario_of(const Record& record, Mapping& mapping, const Library& library) {
  Scenario scenario = parse_scenario(mapping.scenario, record.id, {}, library);
  if (!mapping.recompute_is_open) return scenario;
  return with_open_recompute(record, mapping, std::move(scenario), library);
}

TunedLayout fastest_layout(const Record& record, const Mapping& mapping, const Library& library) {
  TunedLayout fastest;
  if (!mapping.micro_is_open && !mapping.virtual_stages_are_open) return fastest;
  std::optional<Tried> best;
  for (const auto& virtual_stages : virtual_stages_of(record, mapping)) {
    for (const auto& micro : micros_of(mapping)) {
      const TunedLayout layout{micro, virtual_stages};
      const std::optional<Tried> tried = try_layout(record, layout, library);
      if (!tried || (best && !is_better(*tried, *best))) continue;
      best = tried;
      fastest = layout;
    }
  }
  return fastest;
}

}  // namespace stagecraft
