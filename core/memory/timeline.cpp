#include "memory/timeline.hpp"

#include <span>

#include "memory/overhead.hpp"
#include "schedule/asynchronous.hpp"

namespace stagecraft {
namespace {

/// A rank that holds both ends of a replica's pipeline shares the tied embedding instead of copying it.
void drop_needless_copies(const Plan& plan, const std::vector<StageMemory>& memories, const StageMap& map,
                          std::vector<MemoryByClass>& resident) {
  for (std::size_t s = 1; s < map.size(); ++s) {
    if (memories[s].tied_copy == 0 || map[s] != map.front()) continue;
    ParameterCount count;
    count.dense = memories[s].tied_copy;
    const MemoryByClass copy = resident_states(plan, count).gpu;
    for (std::size_t c = 0; c < memory_class_count; ++c) resident[map[s].index()][c] -= copy[c];
  }
}

std::vector<MemoryByClass> resident_of_ranks(const Plan& plan, const std::vector<StageMemory>& memories,
                                             const Schedule& schedule) {
  std::vector<MemoryByClass> resident(schedule.programs.size(), fixed_memory(plan));
  for (const StageMap& map : schedule.placement) {
    for (std::size_t s = 0; s < map.size(); ++s) resident[map[s].index()] += memories[s].resident;
    drop_needless_copies(plan, memories, map, resident);
  }
  for (std::size_t r = 0; r < resident.size(); ++r) {
    Bytes& weights = at(resident[r], MemoryClass::parameters);
    weights = weights * weight_versions(schedule.weights, schedule.shape, PipelineRank(r));
  }
  return resident;
}

MemoryByClass with_step(const MemoryByClass& resident, const StepBytes& step) {
  MemoryByClass sum = resident;
  at(sum, MemoryClass::activations) += Bytes{step.activations};
  at(sum, MemoryClass::logits) += Bytes{step.logits};
  at(sum, MemoryClass::communication) += Bytes{step.communication};
  return sum;
}

/// Walks a program over effects in all classes (OpEffect) or summed (EffectSum); `visit(position, effect, state)` sees
/// the state while each operation runs. Returns the state after the last.
template <class Effect, class Visit>
auto walk(const std::vector<Effect>& effects, std::span<const EffectStep> program, Visit&& visit) {
  decltype(Effect::at_start) now{};
  const Effect* paired = nullptr;  // an F that runs until the B that it overlaps has ended
  for (std::size_t i = 0; i < program.size(); ++i) {
    const EffectStep step = program[i];
    const Effect& effect = effects[step.effect];
    now += effect.at_start;
    auto running = now;
    running += effect.during;
    if (paired != nullptr) running += paired->during;
    visit(i, effect, running);
    if (step.overlaps_next && paired == nullptr) {
      paired = &effect;
      continue;
    }
    now += effect.at_end;
    if (paired != nullptr && step.computes) {
      now += paired->at_end;
      paired = nullptr;
    }
  }
  if (paired != nullptr) now += paired->at_end;
  return now;
}

/// OpEffect with its classes added up.
struct EffectSum {
  double at_start = 0, during = 0, at_end = 0;
};

/// Position of the operation during which most is held.
std::size_t peak_position(const std::vector<EffectSum>& sums, std::span<const EffectStep> program) {
  std::size_t at = 0;
  double highest = 0;
  walk(sums, program, [&](std::size_t i, const EffectSum&, double running) {
    if (running <= highest) return;
    highest = running;
    at = i;
  });
  return at;
}

std::vector<EffectStep> effect_steps(const Schedule& schedule, const std::vector<Op>& program) {
  const auto stages = static_cast<std::size_t>(stage_count(schedule));
  std::vector<EffectStep> steps;
  steps.reserve(program.size());
  for (const Op& op : program) {
    const std::size_t effect = effect_index(schedule.placement.size(), stages, op);
    steps.push_back({static_cast<std::uint32_t>(effect), op.overlaps_next, is_compute(op.kind)});
  }
  return steps;
}

std::vector<EffectSum> sums_of(const OpEffects& table) {
  std::vector<EffectSum> sums;
  sums.reserve(table.effects.size());
  for (const OpEffect& effect : table.effects)
    sums.push_back({effect.at_start.sum(), effect.during.sum(), effect.at_end.sum()});
  return sums;
}

void count(const StepBytes& change, double& allocated, double& freed) {
  for (const double bytes : {change.activations, change.logits, change.communication}) {
    (bytes > 0 ? allocated : freed) += bytes > 0 ? bytes : -bytes;
  }
}

std::vector<Bytes> limits_of(const Plan& plan, const Schedule& schedule) {
  std::vector<Bytes> limits;
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    limits.push_back(memory_limit(smallest_gpu(plan, PipelineRank(rank))));
  }
  return limits;
}

}  // namespace

MemoryModel make_memory_model(const Plan& plan, const Schedule& schedule) {
  const std::vector<StageMemory> memories = stage_memories(plan);
  return {op_effects(memories, schedule), resident_of_ranks(plan, memories, schedule), limits_of(plan, schedule)};
}

MemoryTimeline memory_timeline(const MemoryModel& model, const Schedule& schedule, PipelineRank rank) {
  const std::vector<Op>& program = schedule.programs[rank.index()];
  MemoryTimeline timeline;
  timeline.resident = model.resident[rank.index()];
  timeline.at_peak = timeline.resident;
  timeline.while_op.reserve(program.size());
  double highest = 0, allocated = 0, freed = 0;
  const auto visit = [&](std::size_t i, const OpEffect& effect, const StepBytes& running) {
    timeline.while_op.push_back(with_step(timeline.resident, running));
    count(effect.at_start, allocated, freed);
    count(effect.at_end, allocated, freed);
    if (running.sum() > highest) {
      highest = running.sum();
      timeline.peak_op = i;
    }
  };
  timeline.after = with_step(timeline.resident, walk(model.effects.effects, effect_steps(schedule, program), visit));
  if (highest > 0) timeline.at_peak = timeline.while_op[timeline.peak_op];
  timeline.peak = total(timeline.at_peak);
  timeline.allocated = {allocated};
  timeline.freed = {freed};
  return timeline;
}

MemoryTimeline memory_timeline(const Plan& plan, const Schedule& schedule, PipelineRank rank) {
  return memory_timeline(make_memory_model(plan, schedule), schedule, rank);
}

bool fits(const MemoryPeak& peak) {
  return peak.peak <= peak.limit;
}

EffectPrograms effect_programs(const Schedule& schedule) {
  EffectPrograms programs;
  for (const std::vector<Op>& program : schedule.programs) programs.push_back(effect_steps(schedule, program));
  return programs;
}

std::vector<MemoryPeak> memory_peaks(const Plan& plan, const Schedule& schedule) {
  return memory_peaks(plan, schedule, effect_programs(schedule));
}

std::vector<MemoryPeak> memory_peaks(const Plan& plan, const Schedule& schedule, const EffectPrograms& programs) {
  const MemoryModel model = make_memory_model(plan, schedule);
  const std::vector<EffectSum> sums = sums_of(model.effects);
  std::vector<MemoryPeak> peaks(schedule.programs.size());
  for (std::size_t r = 0; r < peaks.size(); ++r) {
    MemoryPeak& peak = peaks[r];
    const std::span<const EffectStep> program = programs[r];
    peak.peak_op = peak_position(sums, program);
    StepBytes highest;
    walk(model.effects.effects, program.first(program.empty() ? 0 : peak.peak_op + 1),
         [&](std::size_t, const OpEffect&, const StepBytes& running) { highest = running; });
    peak.at_peak = with_step(model.resident[r], highest);
    peak.peak = total(peak.at_peak);
    peak.limit = model.limits[r];
  }
  return peaks;
}

}  // namespace stagecraft
