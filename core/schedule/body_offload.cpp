// Offload in time: copies over PCIe that hide behind kernels where they can (arXiv 2101.06840, sections 4 and 5).

#include <algorithm>

#include "plan/recompute_scope.hpp"
#include "schedule/body_layers.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {
namespace {

Segment copy(const char* name, Home home, double bytes, std::int32_t hides_behind) {
  const CollectiveKind kind = home == Home::nvme ? CollectiveKind::nvme_copy : CollectiveKind::host_copy;
  return collective(name, kind, Axis::replica, bytes, hides_behind);
}

std::int32_t kernel_count(const std::vector<Segment>& segments) {
  return static_cast<std::int32_t>(
      std::count_if(segments.begin(), segments.end(), [](const Segment& segment) { return !segment.is_collective; }));
}

}  // namespace

double offloaded_bytes(const Plan& plan, const BodyShape& shape) {
  const double width = static_cast<double>(shape.norm_tokens) * static_cast<double>(shape.hidden);
  if (plan.run.recompute == Recompute::full) return shape.element * width;
  // Inputs of both norms, of qkv, of the MLP; query, key, value, output of attention; input and output of the
  // activation.
  const double tokens = static_cast<double>(shape.tokens);
  const double attention = static_cast<double>(shape.qkv_width + shape.query_width);
  const double inner = static_cast<double>(shape.ffn) * (plan.model.mlp.gated ? 3 : 2);
  return shape.element * (4 * width + tokens * (attention + inner));
}

void add_activation_copy(std::vector<Segment>& block, const Plan& plan, const BodyShape& shape) {
  const Home home = plan.run.offload.activations;
  if (home == Home::gpu || block.empty()) return;
  block.insert(block.begin(), copy("activation-copy", home, offloaded_bytes(plan, shape), kernel_count(block)));
}

void add_host_optimizer(std::vector<Segment>& out, const Plan& plan, const UnitParameters& parameters) {
  const RecipeBytes& recipe = bytes_of(recipe_of(plan.run));
  const double updated = updated_parameters(plan, parameters);
  const Home home = plan.run.offload.optimizer;
  out.push_back(copy("gradients-to-host", Home::host, updated * recipe.gradient, 0));
  if (home == Home::nvme) {  // states in and out
    const double states = 2 * (recipe.master + 2 * recipe.moment);
    out.push_back(copy("states-on-nvme", home, updated * states, 0));
  }
  Segment adam;
  adam.name = "host-adam";
  adam.kernel.kind = KernelKind::host_adam;
  adam.kernel.k = static_cast<std::int64_t>(updated);
  out.push_back(adam);
  out.push_back(copy("weights-from-host", Home::host, updated * recipe.weight, 0));
}

}  // namespace stagecraft
