#include "memory/distinct_states.hpp"

#include <map>
#include <random>
#include <tuple>

namespace stagecraft {
namespace {

/// Stages in which no two amounts are alike, so that states are equal for these only if they are for any. Whole
/// numbers: their sums are exact in any order.
std::vector<StageMemory> unlike_stages(std::size_t count) {
  std::mt19937_64 random(20'240'624);
  const auto amount = [&] { return static_cast<double>(1 + random() % (std::uint64_t{1} << 32)); };
  std::vector<StageMemory> stages(count);
  for (StageMemory& stage : stages) {
    for (Bytes* const bytes :
         {&stage.activation_per_micro_batch, &stage.logits_per_micro_batch, &stage.forward_working_set,
          &stage.logits_forward_working_set, &stage.backward_working_set, &stage.logits_backward_working_set,
          &stage.held_by_weight_grad, &stage.logits_held_by_weight_grad, &stage.unshard, &stage.recompute_working_set,
          &stage.input, &stage.output, &stage.message}) {
      bytes->value = amount();
    }
  }
  return stages;
}

std::vector<DistinctStep> distinct_steps(const OpEffects& table, const std::vector<Op>& program) {
  using Key = std::tuple<double, double, double>;
  std::map<Key, std::uint32_t> states;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t> seen;  // -> state that it leaves
  std::vector<DistinctStep> steps;
  const auto key_of = [](const StepBytes& bytes) { return Key(bytes.activations, bytes.logits, bytes.communication); };
  StepBytes now;
  states[key_of(now)] = 0;
  std::uint32_t state = 0;
  std::int32_t paired = -1;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op& op = program[i];
    const OpEffect& effect = effect_of(table, op);
    DistinctStep step;
    step.before = state;
    step.effect = static_cast<std::uint32_t>(&effect - table.effects.data());
    step.paired = paired;
    step.goes_on = op.overlaps_next && paired < 0;
    step.ends_paired = paired >= 0 && is_compute(op.kind) && !step.goes_on;
    step.op = static_cast<std::uint32_t>(i);
    now += effect.at_start;
    if (!step.goes_on) now += effect.at_end;
    if (step.ends_paired) now += table.effects[static_cast<std::size_t>(paired)].at_end;
    if (step.goes_on) {
      paired = static_cast<std::int32_t>(step.effect);
    } else if (step.ends_paired) {
      paired = -1;
    }
    const auto [known, is_new] = seen.try_emplace({step.before, step.effect, step.paired}, 0);
    if (is_new) {
      steps.push_back(step);
      known->second = states.try_emplace(key_of(now), static_cast<std::uint32_t>(steps.size())).first->second;
    }
    state = known->second;
  }
  return steps;
}

}  // namespace

DistinctStates distinct_states(const Schedule& schedule) {
  const OpEffects table = op_effects(unlike_stages(static_cast<std::size_t>(stage_count(schedule))), schedule);
  DistinctStates states;
  for (const std::vector<Op>& program : schedule.programs) states.push_back(distinct_steps(table, program));
  return states;
}

std::vector<MemoryPeak> memory_peaks(const Plan& plan, const Schedule& schedule, const DistinctStates& states) {
  const MemoryModel model = make_memory_model(plan, schedule);
  const std::vector<OpEffect>& effects = model.effects.effects;
  std::vector<MemoryPeak> peaks(states.size());
  std::vector<StepBytes> left;
  for (std::size_t r = 0; r < states.size(); ++r) {
    MemoryPeak& peak = peaks[r];
    StepBytes highest;
    left.assign(1, {});
    for (const DistinctStep& step : states[r]) {
      const OpEffect& effect = effects[step.effect];
      StepBytes now = left[step.before];
      now += effect.at_start;
      StepBytes running = now;
      running += effect.during;
      if (step.paired >= 0) running += effects[static_cast<std::size_t>(step.paired)].during;
      if (running.sum() > highest.sum()) {
        highest = running;
        peak.peak_op = step.op;
      }
      if (!step.goes_on) now += effect.at_end;
      if (step.ends_paired) now += effects[static_cast<std::size_t>(step.paired)].at_end;
      left.push_back(now);
    }
    peak.at_peak = with_step(model.resident[r], highest);
    peak.peak = total(peak.at_peak);
    peak.limit = model.limit;
  }
  return peaks;
}

}  // namespace stagecraft
