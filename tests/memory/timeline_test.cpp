// Bytes over a schedule: live micro-batches, conservation, peaks.
#include <algorithm>
#include <map>

#include "memory/overhead.hpp"
#include "plans.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

Plan pipeline_plan(std::int64_t pipeline, std::int64_t virtual_stages, std::int64_t micro_batches,
                   Recompute recompute = Recompute::none) {
  Layout layout;
  layout.pipeline = pipeline;
  layout.virtual_stages = virtual_stages;
  layout.micro_batches = micro_batches;
  layout.recompute = recompute;
  return plan_of(gpt(64, 4, 2 * pipeline * virtual_stages, 32, 256), layout);
}

/// Micro-batches alive on a rank at once, read from the curve: the highest activations while no transient counts.
double live_micro_batches(const Plan& plan, const Schedule& schedule, std::int32_t rank) {
  const MemoryTimeline timeline = memory_timeline(plan, schedule, PipelineRank(rank));
  const StageMemory stage = stage_memory(plan, Stage(rank));
  double highest = 0;
  for (std::size_t i = 0; i < timeline.while_op.size(); ++i) {
    const Op& op = schedule.programs[static_cast<std::size_t>(rank)][i];
    if (op.kind != OpKind::forward) continue;
    highest = std::max(highest, (at(timeline.while_op[i], MemoryClass::activations) - stage.forward_working_set).value);
  }
  return highest / stage.activation_per_micro_batch.value;
}

}  // namespace

TEST_CASE("1F1B holds min(m, p-r) micro-batches on rank r") {
  for (const std::int64_t m : {1, 2, 3, 8}) {
    const Plan plan = pipeline_plan(4, 1, m);
    const Schedule schedule = schedule_of(plan, "1f1b");
    // The last rank's forward is worst with its logits or with its blocks: the others show the count undisturbed.
    for (std::int32_t r = 0; r < 3; ++r) {
      CHECK(live_micro_batches(plan, schedule, r) == static_cast<double>(std::min<std::int64_t>(m, 4 - r)));
    }
  }
}

TEST_CASE("GPipe holds all m micro-batches on every rank") {
  const Plan plan = pipeline_plan(4, 1, 7);
  const Schedule schedule = schedule_of(plan, "gpipe");
  for (std::int32_t r = 0; r < 3; ++r) CHECK(live_micro_batches(plan, schedule, r) == 7);
}

TEST_CASE("logits live one micro-batch at a time under 1F1B and m at a time under GPipe") {
  const Plan plan = pipeline_plan(4, 1, 6);
  const Bytes logits = stage_memory(plan, Stage(3)).logits_per_micro_batch;
  const auto highest = [&](const char* name) {
    const MemoryTimeline timeline = memory_timeline(plan, schedule_of(plan, name), PipelineRank(3));
    Bytes most;
    for (const MemoryByClass& state : timeline.while_op) most = std::max(most, at(state, MemoryClass::logits));
    return most;
  };
  const Bytes half_precision{2.0 * 32 * 256};  // s * V elements in 16 bit beside the fp32 softmax
  CHECK(highest("1f1b").value == (logits + half_precision).value);
  CHECK(highest("gpipe").value == (6 * logits + half_precision).value);
}

TEST_CASE("on every schedule of the family all that a step allocates it frees") {
  for (const FamilyEntry& entry : schedule_family()) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      const Plan plan = pipeline_plan(4, usual_chunks(entry), 8, recompute);
      const Schedule compute = schedule_of(plan, entry.name);
      for (const Schedule& schedule : {compute, lower(compute, plan)}) {
        for (std::int32_t r = 0; r < 4; ++r) {
          INFO(entry.name << (schedule.lowered ? ", lowered" : "") << ", rank " << r << ", recompute "
                          << to_text(recompute));
          const MemoryTimeline timeline = memory_timeline(plan, schedule, PipelineRank(r));
          CHECK(timeline.allocated.value > 0);
          CHECK(timeline.allocated.value == timeline.freed.value);
          for (std::size_t c = 0; c < memory_class_count; ++c) {
            CHECK(timeline.after[c].value == timeline.resident[c].value);
            for (const MemoryByClass& state : timeline.while_op) {
              if (state[c].value < 0) FAIL_CHECK(to_text(static_cast<MemoryClass>(c)) << " below zero");
            }
          }
        }
      }
    }
  }
}

TEST_CASE("peaks are the highest points of the curves") {
  for (const char* name : {"1f1b", "gpipe", "zb-h1"}) {
    const Plan plan = pipeline_plan(4, 1, 8);
    const Schedule schedule = lower(schedule_of(plan, name), plan);
    const std::vector<MemoryPeak> peaks = memory_peaks(plan, schedule);
    REQUIRE(peaks.size() == 4);
    for (std::int32_t r = 0; r < 4; ++r) {
      const MemoryTimeline timeline = memory_timeline(plan, schedule, PipelineRank(r));
      Bytes highest;
      for (const MemoryByClass& state : timeline.while_op) highest = std::max(highest, total(state));
      const MemoryPeak& peak = peaks[static_cast<std::size_t>(r)];
      CHECK(peak.peak.value == highest.value);
      CHECK(peak.peak.value == timeline.peak.value);
      CHECK(peak.peak_op == timeline.peak_op);
      CHECK(peak.at_peak == timeline.at_peak);
      CHECK(peak.limit.value == 79e9);
      CHECK(fits(peak));
    }
  }
}

TEST_CASE("a peak at the limit fits, one byte more does not") {
  MemoryPeak peak;
  peak.limit = {100};
  peak.peak = {100};
  CHECK(fits(peak));
  peak.peak = {101};
  CHECK_FALSE(fits(peak));
}

TEST_CASE("a split backward frees at I what W does not need and the rest at W") {
  const Plan plan = pipeline_plan(4, 1, 8);
  const Schedule schedule = schedule_of(plan, "zb-h1");
  const StageMemory stage = stage_memory(plan, Stage(1));
  const MemoryTimeline timeline = memory_timeline(plan, schedule, PipelineRank(1));
  double now = 0;
  for (std::size_t i = 0; i < schedule.programs[1].size(); ++i) {
    const Op& op = schedule.programs[1][i];
    if (op.kind == OpKind::forward) now += stage.activation_per_micro_batch.value;
    if (op.kind == OpKind::weight_grad) CHECK(at(timeline.while_op[i], MemoryClass::activations).value == now);
    if (op.kind == OpKind::input_grad) now += (stage.held_by_weight_grad - stage.activation_per_micro_batch).value;
    if (op.kind == OpKind::weight_grad) now -= stage.held_by_weight_grad.value;
    if (op.kind == OpKind::backward) now -= stage.activation_per_micro_batch.value;
  }
  CHECK(now == 0);
}

TEST_CASE("less recompute, more memory: none above selective above full") {
  const auto peak = [](Recompute recompute) {
    const Plan plan = pipeline_plan(4, 1, 8, recompute);
    return memory_peaks(plan, lower(schedule_of(plan, "1f1b"), plan)).front().peak;
  };
  CHECK(peak(Recompute::none) > peak(Recompute::selective));
  CHECK(peak(Recompute::selective) > peak(Recompute::full));
}

TEST_CASE("under full recompute one layer at a time is whole again") {
  const Plan plan = pipeline_plan(2, 1, 4, Recompute::full);
  const StageMemory stage = stage_memory(plan, Stage(0));
  const Plan keeping = pipeline_plan(2, 1, 4);
  // Two blocks a stage: what one block keeps beyond its input is made again.
  const Bytes two_blocks =
      stage_memory(keeping, Stage(0)).activation_per_micro_batch - stage.activation_per_micro_batch;
  CHECK(stage.recompute_working_set.value == two_blocks.value / 2);
  CHECK(stage.backward_working_set > stage.recompute_working_set);
}

TEST_CASE("a message waits in a buffer from its receive to its use") {
  const Plan plan = pipeline_plan(2, 1, 1);
  const Schedule schedule = lower(schedule_of(plan, "1f1b"), plan);
  const MemoryTimeline timeline = memory_timeline(plan, schedule, PipelineRank(1));
  const StageMemory first = stage_memory(plan, Stage(0));
  const double fixed = at(fixed_memory(plan), MemoryClass::communication).value;
  std::map<OpKind, double> communication;
  for (std::size_t i = 0; i < schedule.programs[1].size(); ++i) {
    communication[schedule.programs[1][i].kind] = at(timeline.while_op[i], MemoryClass::communication).value - fixed;
  }
  CHECK(communication.at(OpKind::recv_activation) == first.message.value);
  CHECK(communication.at(OpKind::forward) == 0);  // it has become the saved input of the first block
  CHECK(communication.at(OpKind::backward) == 0);
  CHECK(communication.at(OpKind::send_gradient) == first.output.value);
}

TEST_CASE("copies between GPU and host move no peak: what travels is counted with the passes") {
  for (const FamilyEntry& entry : schedule_family()) {
    Plan plan = pipeline_plan(4, usual_chunks(entry), 8);
    plan.run.offload.activations = plan.run.offload.optimizer = Home::host;
    const Schedule compute = schedule_of(plan, entry.name);
    LoweringPolicy without = lowering_policy(plan);
    without.offload_activations = without.offload_optimizer = false;
    const Schedule lowered = lower(compute, plan), bare = lower(compute, without);
    REQUIRE(std::any_of(lowered.programs[0].begin(), lowered.programs[0].end(),
                        [](const Op& op) { return op.kind == OpKind::offload; }));
    for (std::int32_t r = 0; r < 4; ++r) {
      INFO(entry.name << ", rank " << r);
      const MemoryTimeline copying = memory_timeline(plan, lowered, PipelineRank(r));
      const MemoryTimeline plain = memory_timeline(plan, bare, PipelineRank(r));
      CHECK(copying.allocated.value == copying.freed.value);
      CHECK(copying.allocated.value == plain.allocated.value);
      Bytes highest, expected;
      for (const MemoryByClass& state : copying.while_op) highest = std::max(highest, total(state));
      for (const MemoryByClass& state : plain.while_op) expected = std::max(expected, total(state));
      CHECK(highest.value == expected.value);
    }
  }
}
