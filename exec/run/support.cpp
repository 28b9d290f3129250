#include "exec/run/support.hpp"

#include <algorithm>

#include "schedule/executable.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {

Findings refusals(const Plan& plan, const Schedule& compute, const ExecuteOptions& options) {
  return execution_refusals(plan, compute, options.device.is_cpu());
}

BufferPolicy buffer_policy(const Plan& plan, const ExecuteOptions& options) {
  BufferPolicy policy;
  policy.zero_stage = plan.run.zero_stage;
  policy.device = options.device;
  policy.seed = options.seed;
  const at::ScalarType half = plan.run.precision == Precision::fp16_mixed ? at::kHalf : at::kBFloat16;
  const RecipeBytes& recipe = bytes_of(recipe_of(plan.run));
  policy.value = recipe.weight < 4 ? half : at::kFloat;
  policy.gradient = recipe.gradient < 4 ? half : at::kFloat;
  policy.state = recipe.moment < 4 ? half : at::kFloat;
  policy.master_copy = policy.value != policy.state;
  if (options.numbers) {
    policy.value = policy.gradient = policy.state = *options.numbers;
    policy.master_copy = false;
  }
  const auto gradient_bytes = static_cast<double>(c10::elementSize(policy.gradient));
  policy.bucket_elements =
      std::max<std::int64_t>(static_cast<std::int64_t>(plan.run.gradient_bucket_bytes / gradient_bytes), 1);
  return policy;
}

}  // namespace stagecraft
