// What offload copies between GPU and host (arXiv 2101.06840, sections 4 and 5; arXiv 2104.07857), and what of it is
// part of a body: parameters that a block gathers, and states on drives around the host's Adam.

#include <algorithm>
#include <cmath>

#include "plan/recompute_scope.hpp"
#include "schedule/attention.hpp"
#include "schedule/body_layers.hpp"
#include "schedule/experts.hpp"
#include "schedule/lower.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {
namespace {

Segment copy(const char* name, Home home, double bytes, std::int32_t hides_behind) {
  const CollectiveKind kind = home == Home::nvme ? CollectiveKind::nvme_copy : CollectiveKind::host_copy;
  return collective(name, kind, Axis::replica, bytes, hides_behind);
}

double width_of(const BodyShape& shape) {
  return static_cast<double>(shape.norm_tokens) * static_cast<double>(shape.hidden);
}

/// Bytes that a block keeps and that are not computed again: inputs and outputs of both norms, what its attention
/// keeps, and what lies between the MLP's or the experts' two products. memory/block_activations.cpp has the same,
/// tensor by tensor.
double kept_by_block(const Plan& plan, const BodyShape& shape, const BlockKind& kind) {
  const double widths = runs_again(plan, &RecomputeModules::norms) ? 2 : 4;
  const double mlp = kind.experts ? kept_by_experts(shape, plan)
                                  : kept_inner_tensors(shape, plan) * static_cast<double>(shape.tokens) *
                                        static_cast<double>(shape.ffn);
  return shape.element * (widths * width_of(shape) + attention_layer_of(plan.model).kept(shape, plan) + mlp);
}

double kept_by_stage(const Plan& plan, Stage stage) {
  const StageLayers& range = plan.stages[stage.index()];
  const BodyShape decoder = body_shape(plan), encoder = plan.model.encoder_blocks > 0 ? encoder_shape(plan) : decoder;
  std::vector<BlockKind> blocks;
  for (std::int32_t i = range.first; i < range.last; ++i) {
    const Layer& layer = plan.layers[static_cast<std::size_t>(i)];
    if (layer.kind == LayerKind::block) blocks.push_back(block_kind(plan.model, layer.index));
  }
  const auto count = static_cast<std::int64_t>(blocks.size());
  const RecomputedBlocks scope = recomputed_blocks(plan.run, count);
  const std::int64_t pieces_end = plan.run.recompute == Recompute::full ? std::min(scope.count, count) : 0;
  const std::int64_t piece = std::max<std::int64_t>(1, scope.piece);
  double bytes = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const BlockKind& kind = blocks[static_cast<std::size_t>(i)];
    const BodyShape& shape = kind.encoder ? encoder : decoder;
    if (i >= pieces_end) {
      bytes += kept_by_block(plan, shape, kind);
    } else if (i % piece == 0) {  // of a piece only the first block's input stays
      bytes += shape.element * width_of(shape);
    }
  }
  return bytes * offloaded_share(plan.run.offload, count);
}

/// Parameters of a stage that this rank's optimizer updates.
double updated_of_stage(const Plan& plan, Stage stage) {
  const double experts = expert_parameters_per_rank(plan, stage);
  return updated_parameters(plan, {parameters_per_rank(plan, stage) - experts, experts});
}

}  // namespace

double kept_inner_tensors(const BodyShape& shape, const Plan& plan) {
  const MlpSpec& mlp = plan.model.mlp;
  if (runs_again(plan, &RecomputeModules::mlp)) return 0;
  const double halves = mlp.gated ? 2 : 1;
  // ReLU differentiates from its output.
  const double activation_input = mlp.activation == Activation::relu && !mlp.gated ? 0 : halves;
  if (runs_again(plan, &RecomputeModules::activation)) return shape.clamp_apart ? halves : activation_input;
  const double activated_gate = mlp.gated && !shape.fused_gate ? 1 : 0;
  return (shape.clamp_apart ? halves : 0) + activation_input + activated_gate + 1;
}

Bytes copied_bytes(const Plan& plan, OpKind kind, Stage stage) {
  switch (kind) {
    case OpKind::offload:
    case OpKind::reload:
      return {plan.model.plain_layers.empty() ? kept_by_stage(plan, stage) : 0};
    case OpKind::offload_grad:
      return {updated_of_stage(plan, stage) * bytes_of(recipe_of(plan.run)).gradient};
    case OpKind::reload_param:
      return {updated_of_stage(plan, stage) * bytes_of(recipe_of(plan.run)).weight};
    default:
      return {};
  }
}

void add_parameter_copy(std::vector<Segment>& out, const Plan& plan, const UnitParameters& parameters,
                        std::int32_t hides_behind) {
  const Home home = plan.run.offload.parameters;
  if (home == Home::gpu) return;
  const double bytes = updated_parameters(plan, parameters) * bytes_of(recipe_of(plan.run)).weight;
  out.push_back(copy("parameters-from-host", home, bytes, hides_behind));
}

void add_host_optimizer(std::vector<Segment>& out, const Plan& plan, const UnitParameters& parameters) {
  const RecipeBytes& recipe = bytes_of(recipe_of(plan.run));
  const double updated = updated_parameters(plan, parameters);
  if (plan.run.offload.optimizer == Home::nvme) {  // states in and out
    const double states = 2 * (recipe.master + 2 * recipe.moment);
    out.push_back(copy("states-on-nvme", Home::nvme, updated * states, 0));
  }
  Segment adam;
  adam.name = "host-adam";
  adam.kernel.kind = KernelKind::host_adam;
  adam.kernel.k = static_cast<std::int64_t>(updated);
  out.push_back(adam);
}

void add_parameters_to_host(std::vector<Segment>& out, const Plan& plan, const UnitParameters& parameters) {
  const Home home = plan.run.offload.parameters;
  const bool on_gpu = plan.run.offload.optimizer == Home::gpu;
  if (home == Home::gpu || (!on_gpu && home == Home::host)) return;
  const double bytes = updated_parameters(plan, parameters) * bytes_of(recipe_of(plan.run)).weight;
  out.push_back(copy("parameters-to-host", home, bytes, 0));
}

}  // namespace stagecraft
