// The optimizer step as bytes per parameter. Mixed precision follows Megatron-LM's optimizer: gradients to fp32 and
// unscaled (fp16 only), a norm, a clip, the update of fp32 master weights and moments, and the copy to 16-bit weights.

#include "schedule/body_layers.hpp"
#include "schedule/body_names.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {

OptimizerTraffic optimizer_traffic(const RunSpec& run) {
  const RecipeBytes& recipe = bytes_of(recipe_of(run));
  const OptimizerStates& states = states_of(run.optimizer);
  OptimizerTraffic traffic;
  traffic.per_held = recipe.gradient;  // set to zero before the next step
  double gradient = recipe.gradient;   // as the update reads it
  traffic.launches = 2;
  if (recipe.master > 0 && recipe.gradient < 4) {
    traffic.per_updated += recipe.gradient + 4;  // to fp32
    gradient = 4;
    ++traffic.launches;
  }
  if (run.precision == Precision::fp16_mixed) {
    traffic.per_updated += 8;  // unscaled, and searched for infinities
    ++traffic.launches;
  }
  traffic.per_clipped = gradient + 2 * gradient;  // norm, clip
  const double weight = recipe.master > 0 ? 4 : recipe.weight;
  const double moments = states.moments * recipe.moment + states.fixed_bytes;
  // Adafactor reads the gradient once more for the sums of its rows and columns.
  traffic.per_updated += gradient * (states.factored ? 2 : 1) + 2 * (weight + moments);
  if (recipe.master > 0) {
    traffic.per_updated += 4 + recipe.weight;  // the copy
    ++traffic.launches;
  }
  return traffic;
}

double updated_parameters(const Plan& plan, const UnitParameters& parameters) {
  if (plan.run.zero_stage < 1) return parameters.dense + parameters.expert;
  return parameters.dense / static_cast<double>(group_size(plan.degrees, Axis::shard)) +
         parameters.expert / static_cast<double>(group_size(plan.degrees, Axis::expert_data));
}

void add_optimizer(std::vector<Segment>& out, const Plan& plan, const UnitParameters& parameters) {
  const OptimizerTraffic traffic = optimizer_traffic(plan.run);
  if (plan.run.offload.optimizer != Home::gpu) {
    add_host_optimizer(out, plan, parameters);
  } else {
    const double held = parameters.dense + parameters.expert, updated = updated_parameters(plan, parameters);
    out.push_back(pass(gradient_clipping_segment, updated * traffic.per_clipped, traffic.clip_launches));
    out.push_back(pass("optimizer", held * traffic.per_held + updated * traffic.per_updated, traffic.launches));
  }
  add_parameters_to_host(out, plan, parameters);
  Segment host;
  host.name = "step-host";
  host.kernel.kind = KernelKind::host;
  out.push_back(host);
  if (plan.run.data_loading_s > 0) {
    host.name = "data-loading";
    host.kernel.kind = KernelKind::loading;
    out.push_back(host);
  }
  if (plan.run.host.collection_pause_s > 0) {
    host.name = "garbage-collection";
    host.kernel.kind = KernelKind::collection;
    out.push_back(host);
  }
}

}  // namespace stagecraft
