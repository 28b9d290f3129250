#pragma once
// Memory over a schedule: the state of every pipeline rank while each of its operations runs, and the peak.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/footprint.hpp"
#include "memory/op_effects.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// A plan's stages on a schedule's ranks, worked out once for all ranks.
struct MemoryModel {
  OpEffects effects;
  std::vector<MemoryByClass> resident;  // [pipeline rank] all step long: model states of its stages, every version of
                                        // the weights that a schedule without a flush keeps, and the fixed lines
  std::vector<Bytes> limits;            // [pipeline rank] usable memory of its smallest GPU
};

/// Precondition: the schedule has as many stages as the plan.
MemoryModel make_memory_model(const Plan& plan, const Schedule& schedule);

/// Memory of one pipeline rank over the operations of its program; the i-th entry is the state while operation i runs.
struct MemoryTimeline {
  std::vector<MemoryByClass> while_op;
  MemoryByClass at_peak{};
  std::size_t peak_op = 0;
  Bytes peak;
  MemoryByClass resident{};  // before the first operation
  MemoryByClass after{};     // after the last one: equal to `resident` for a schedule that passes its checks
  Bytes allocated, freed;    // by all operations together, transients left out
};
MemoryTimeline memory_timeline(const MemoryModel& model, const Schedule& schedule, PipelineRank rank);

/// The same for one rank alone. Whoever wants all ranks makes the model once.
MemoryTimeline memory_timeline(const Plan& plan, const Schedule& schedule, PipelineRank rank);

/// Peak of a pipeline rank without its curve.
struct MemoryPeak {
  MemoryByClass at_peak{};
  Bytes peak;
  Bytes limit;  // usable memory of the GPU
  std::size_t peak_op = 0;
};
bool fits(const MemoryPeak& peak);

/// One entry per pipeline rank.
std::vector<MemoryPeak> memory_peaks(const Plan& plan, const Schedule& schedule);

/// What the memory of a rank sees of its program, whatever the plan: small enough that a search keeps it beside a
/// schedule that thousands of layouts share.
struct EffectStep {
  std::uint32_t effect = 0;  // into OpEffects::effects
  bool overlaps_next = false, computes = false;
};
using EffectPrograms = std::vector<std::vector<EffectStep>>;  // [pipeline rank], one step per operation
EffectPrograms effect_programs(const Schedule& schedule);

/// `programs`: effect_programs of this schedule.
std::vector<MemoryPeak> memory_peaks(const Plan& plan, const Schedule& schedule, const EffectPrograms& programs);

}  // namespace stagecraft
