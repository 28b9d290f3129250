// Layouts that change the order of sums: gradients agree with one device to rounding.

#include <catch2/catch.hpp>
#include <cmath>

#include "reference.hpp"
#include "tiny_model.hpp"

using namespace stagecraft;

namespace {

struct Case {
  const char* name;
  TinyLayout layout;
  bool tied = false;
  double clip_norm = 0;
};

void check_close(const ModelSpec& model, const Case& one, at::ScalarType numbers, double tolerance) {
  CAPTURE(one.name, model.name, c10::toString(numbers));
  ModelSpec spec = model;
  spec.tied_embeddings = one.tied;
  const Plan plan = tiny_plan(spec, one.layout);
  ExecuteOptions options;
  options.numbers = numbers;
  options.optimizer.clip_norm = one.clip_norm;
  const Schedule schedule = lowered_schedule("1f1b", plan);
  const TrainingRecord measured = train_in_process(plan, schedule, options, 2);
  const TrainingRecord expected = train_on_one_device(plan, options, 2, accumulation_order(schedule));
  CHECK(std::abs(measured.losses[0] / expected.losses[0] - 1) <= tolerance);
  CHECK(std::abs(measured.norms[0] / expected.norms[0] - 1) <= tolerance);
  CHECK(relative_difference(measured.gradients[0], expected.gradients[0]) <= tolerance);
  // The second step starts from updated weights; Adam's first update is the sign of the gradient, which magnifies
  // rounding.
  CHECK(std::abs(measured.losses[1] / expected.losses[1] - 1) <= 100 * tolerance);
}

TinyLayout ranks(std::int32_t tensor, std::int32_t data, std::int32_t pipeline) {
  TinyLayout layout;
  layout.tensor = tensor;
  layout.data = data;
  layout.pipeline = pipeline;
  return layout;
}

TinyLayout with_sequence(TinyLayout layout) {
  layout.sequence_parallel = true;
  return layout;
}

TinyLayout with_zero(TinyLayout layout, std::int64_t stage) {
  layout.zero_stage = stage;
  return layout;
}

}  // namespace

TEST_CASE("Tied embeddings, clipping, TP, SP, DP and ZeRO agree with one device to rounding") {
  const std::vector<Case> cases = {
      {"tied, one rank", ranks(1, 1, 1), true},
      {"tied, pipeline 2", ranks(1, 1, 2), true},
      {"clipped, pipeline 2", ranks(1, 1, 2), false, 0.1},
      {"tensor 2", ranks(2, 1, 1)},
      {"tensor 2, sequence", with_sequence(ranks(2, 1, 1))},
      {"data 2", ranks(1, 2, 1)},
      {"data 2, ZeRO 1", with_zero(ranks(1, 2, 1), 1)},
      {"data 2, ZeRO 2", with_zero(ranks(1, 2, 1), 2)},
      {"data 2, ZeRO 3", with_zero(ranks(1, 2, 1), 3)},
      {"tensor 2 x pipeline 2, tied", ranks(2, 1, 2), true},
      {"tensor 2 x pipeline 2, sequence, tied, clipped", with_sequence(ranks(2, 1, 2)), true, 0.1},
      {"data 2 x pipeline 2, tied, ZeRO 1, clipped", with_zero(ranks(1, 2, 2), 1), true, 0.1},
      {"data 2 x pipeline 2, tied, ZeRO 2", with_zero(ranks(1, 2, 2), 2), true},
      {"data 2 x pipeline 2, tied, ZeRO 3", with_zero(ranks(1, 2, 2), 3), true},
      {"tensor 2 x data 2, sequence, ZeRO 3", with_zero(with_sequence(ranks(2, 2, 1)), 3)},
      {"tensor 2 x data 2, ZeRO 1, tied, clipped", with_zero(ranks(2, 2, 1), 1), true, 0.1},
  };
  for (const Case& one : cases) {
    for (const ModelSpec& model : {tiny_gpt(4), tiny_llama(4)}) {
      check_close(model, one, at::kDouble, 1e-10);
      check_close(model, one, at::kFloat, 1e-5);
    }
  }
}
