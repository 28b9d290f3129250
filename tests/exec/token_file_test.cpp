// A small model trained on a file of tokens learns it, and learns the same whatever route its gradients take.

#include <catch2/catch.hpp>
#include <cmath>

#include "reference.hpp"
#include "tiny_model.hpp"

using namespace stagecraft;

namespace {

constexpr std::int32_t steps = 30;

struct Route {
  const char* schedule;
  TinyLayout layout;
};

TinyLayout layout(std::int32_t tensor, std::int32_t data, std::int32_t pipeline, std::int32_t chunks,
                  std::int64_t zero_stage) {
  TinyLayout made;
  made.tensor = tensor;
  made.data = data;
  made.pipeline = pipeline;
  made.chunks = chunks;
  made.zero_stage = zero_stage;
  made.micro_batches = 8 / data;  // one global batch for all routes
  return made;
}

}  // namespace

TEST_CASE("A token file is learned to the same loss by every route") {
  ExecuteOptions options;
  options.data = STAGECRAFT_SOURCE_DIR "/tests/exec/data/prose.u16";
  options.optimizer.learning_rate = 3e-3;
  const ModelSpec model = tiny_gpt(4);
  const TrainingRecord alone =
      train_on_one_device(tiny_plan(model, layout(1, 1, 1, 1, 0)), options, steps, {0, 1, 2, 3, 4, 5, 6, 7});
  // Tokens are the letters of English prose: from ln 256 = 5.5 of a fresh model to well under 4 in 30 steps.
  CHECK(alone.losses.front() == Approx(std::log(256.0)).margin(0.3));
  CHECK(alone.losses.back() < 4);
  const std::vector<Route> routes = {{"gpipe", layout(1, 1, 2, 1, 0)}, {"1f1b", layout(1, 1, 4, 1, 0)},
                                     {"zb-h1", layout(1, 1, 2, 1, 0)}, {"zbv", layout(1, 1, 2, 2, 0)},
                                     {"1f1b", layout(2, 1, 1, 1, 0)},  {"1f1b", layout(2, 1, 2, 1, 0)},
                                     {"1f1b", layout(1, 2, 1, 1, 0)},  {"1f1b", layout(1, 2, 2, 1, 1)},
                                     {"zb-h1", layout(1, 2, 2, 1, 2)}, {"interleaved-1f1b", layout(1, 2, 2, 2, 3)}};
  for (const Route& route : routes) {
    CAPTURE(route.schedule, route.layout.tensor, route.layout.data, route.layout.pipeline, route.layout.zero_stage);
    const Plan plan = tiny_plan(model, route.layout);
    const TrainingRecord there = train_in_process(plan, lowered_schedule(route.schedule, plan), options, steps);
    CHECK(there.losses.back() == Approx(alone.losses.back()).epsilon(2e-3));
  }
}
