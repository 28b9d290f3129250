#include "memory/timeline.hpp"

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

/// Walks a program; `visit(position, state)` sees the state while each operation runs. Returns the state after the
/// last.
template <class Visit>
StepBytes walk(const OpEffects& table, const std::vector<Op>& program, Visit&& visit) {
  StepBytes now;
  const OpEffect* paired = nullptr;  // an F that runs until the B that it overlaps has ended
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op& op = program[i];
    const OpEffect& effect = effect_of(table, op);
    now += effect.at_start;
    StepBytes running = now;
    running += effect.during;
    if (paired != nullptr) running += paired->during;
    visit(i, effect, running);
    if (op.overlaps_next && paired == nullptr) {
      paired = &effect;
      continue;
    }
    now += effect.at_end;
    if (paired != nullptr && is_compute(op.kind)) {
      now += paired->at_end;
      paired = nullptr;
    }
  }
  if (paired != nullptr) now += paired->at_end;
  return now;
}

void count(const StepBytes& change, double& allocated, double& freed) {
  for (const double bytes : {change.activations, change.logits, change.communication}) {
    (bytes > 0 ? allocated : freed) += bytes > 0 ? bytes : -bytes;
  }
}

}  // namespace

MemoryModel make_memory_model(const Plan& plan, const Schedule& schedule) {
  const std::vector<StageMemory> memories = stage_memories(plan);
  return {op_effects(memories, schedule), resident_of_ranks(plan, memories, schedule), memory_limit(plan.gpu)};
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
  timeline.after = with_step(timeline.resident, walk(model.effects, program, visit));
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

std::vector<MemoryPeak> memory_peaks(const Plan& plan, const Schedule& schedule) {
  const MemoryModel model = make_memory_model(plan, schedule);
  std::vector<MemoryPeak> peaks(schedule.programs.size());
  for (std::size_t r = 0; r < peaks.size(); ++r) {
    MemoryPeak& peak = peaks[r];
    StepBytes highest;
    walk(model.effects, schedule.programs[r], [&](std::size_t i, const OpEffect&, const StepBytes& running) {
      if (running.sum() > highest.sum()) {
        highest = running;
        peak.peak_op = i;
      }
    });
    peak.at_peak = with_step(model.resident[r], highest);
    peak.peak = total(peak.at_peak);
    peak.limit = model.limit;
  }
  return peaks;
}

}  // namespace stagecraft
