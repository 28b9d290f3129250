// 1, 2 and 4 ranks on one GPU, every executable schedule, bf16: losses and gradients agree with one rank on the same
// GPU.

#include <catch2/catch.hpp>
#include <cmath>

#include "exec/run/support.hpp"
#include "reference.hpp"
#include "schedule/family.hpp"
#include "tiny_model.hpp"

using namespace stagecraft;

namespace {

ExecuteOptions on_gpu() {
  ExecuteOptions options;
  options.device = at::Device(at::kCUDA, 0);
  return options;
}

Plan bf16_plan(const ModelSpec& model, const TinyLayout& layout) {
  Plan plan = tiny_plan(model, layout);
  plan.run.precision = Precision::bf16_mixed;
  plan.run.attention_kernel = AttentionKernel::flash_2;
  return plan;
}

void check_close(const Plan& plan, const std::string& name) {
  CAPTURE(name, plan.degrees.pipeline, plan.degrees.tensor, plan.degrees.data);
  const Schedule schedule = lowered_schedule(name, plan);
  const TrainingRecord measured = train_in_process(plan, schedule, on_gpu(), 2);
  const TrainingRecord expected = train_on_one_device(plan, on_gpu(), 2, accumulation_order(schedule));
  CHECK(std::abs(measured.losses[0] / expected.losses[0] - 1) < 1e-3);
  CHECK(relative_difference(measured.gradients[0], expected.gradients[0]) < 1e-2);
}

}  // namespace

TEST_CASE("Every executable schedule trains on one GPU with 1, 2 and 4 ranks", "[gpu]") {
  for (const std::int32_t ranks : {1, 2, 4}) {
    for (const FamilyEntry& entry : schedule_family()) {
      TinyLayout layout;
      layout.pipeline = ranks;
      layout.micro_batches = 8;
      layout.chunks = usual_chunks(entry);
      ScheduleRequest request;
      request.shape = {ranks, layout.micro_batches, layout.chunks};
      if (!entry.refuse(request).empty()) continue;
      const Plan plan = bf16_plan(tiny_gpt(std::max(4, ranks * layout.chunks)), layout);
      if (has_errors(refusals(plan, entry.generate(request), on_gpu()))) continue;
      check_close(plan, entry.name);
    }
  }
}

TEST_CASE("Tensor, sequence and data parallelism and ZeRO train on one GPU", "[gpu]") {
  for (const std::int64_t zero : {0, 1, 2, 3}) {
    TinyLayout layout;
    layout.tensor = 2;
    layout.data = 2;
    layout.zero_stage = zero;
    layout.sequence_parallel = zero % 2 == 1;
    check_close(bf16_plan(tiny_llama(4), layout), "1f1b");
  }
}
