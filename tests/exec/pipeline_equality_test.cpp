// A pure pipeline adds the same numbers in the same order as one device, so its losses, gradients and weights have the
// same bits.

#include <catch2/catch.hpp>

#include "exec/run/support.hpp"
#include "reference.hpp"
#include "schedule/family.hpp"
#include "tiny_model.hpp"

using namespace stagecraft;

namespace {

void check_bit_equal(const Plan& plan, const std::string& name, std::int32_t steps) {
  CAPTURE(name);
  const ExecuteOptions options;
  const Schedule schedule = lowered_schedule(name, plan);
  const TrainingRecord measured = train_in_process(plan, schedule, options, steps);
  const TrainingRecord expected = train_on_one_device(plan, options, steps, accumulation_order(schedule));
  CHECK(measured.losses == expected.losses);
  for (std::size_t step = 0; step < expected.gradients.size(); ++step) {
    CAPTURE(step);
    REQUIRE(bit_equal(measured.gradients[step], expected.gradients[step]));
  }
  CHECK(bit_equal(measured.values, expected.values));
}

TinyLayout layout_for(const FamilyEntry& entry, std::int32_t pipeline, std::int32_t micro_batches) {
  TinyLayout layout;
  layout.pipeline = pipeline;
  layout.micro_batches = micro_batches;
  layout.chunks = usual_chunks(entry);
  return layout;
}

}  // namespace

TEST_CASE("Every executable schedule trains with the bits of one device over 20 steps") {
  std::int32_t executed = 0;
  for (const FamilyEntry& entry : schedule_family()) {
    const TinyLayout layout = layout_for(entry, 2, 6);
    const Plan plan = tiny_plan(tiny_gpt(std::max(4, layout.pipeline * layout.chunks)), layout);
    ScheduleRequest request;
    request.shape = {layout.pipeline, layout.micro_batches, layout.chunks};
    if (!entry.refuse(request).empty()) continue;
    if (has_errors(refusals(plan, entry.generate(request), {}))) continue;
    check_bit_equal(plan, entry.name, 20);
    ++executed;
  }
  CHECK(executed >= 14);
}

TEST_CASE("Four ranks train with the bits of one device") {
  for (const std::string name : {"1f1b", "zb-h1", "interleaved-1f1b", "zbv"}) {
    const TinyLayout layout = layout_for(*find_schedule(name), 4, 8);
    check_bit_equal(tiny_plan(tiny_llama(8), layout), name, 3);
  }
}

TEST_CASE("Recomputation changes no bit") {
  for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
    for (const std::string name : {"1f1b", "zb-h1"}) {
      Plan plan = tiny_plan(tiny_gpt(4), layout_for(*find_schedule(name), 2, 4));
      const ExecuteOptions options;
      const TrainingRecord expected = train_on_one_device(plan, options, 3, {0, 1, 2, 3});
      plan.run.recompute = recompute;
      const TrainingRecord measured = train_in_process(plan, lowered_schedule(name, plan), options, 3);
      CHECK(measured.losses == expected.losses);
      CHECK(bit_equal(measured.values, expected.values));
    }
  }
}

TEST_CASE("A plain list of layers trains on two ranks with the bits of one, checkpointed or not") {
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    TinyLayout layout;
    layout.pipeline = 2;
    Plan plan = tiny_plan(tiny_mlp(6), layout);
    plan.run.recompute = recompute;
    check_bit_equal(plan, "1f1b", 5);
  }
}
