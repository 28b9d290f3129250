// What offload copies between GPU and host (arXiv 2101.06840, sections 4 and 5; arXiv 2104.07857), and what of it is
// part of a body: parameters that a block gathers, and states on drives around the host's Adam.

#include <algorithm>
#include <cmath>

#include "plan/recompute_scope.hpp"
#include "schedule/body_layers.hpp"
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

/// What a block keeps that is not computed again: inputs of both norms, of qkv, of the MLP; query, key, value, output
/// of attention; input and output of the activation.
double kept_by_block(const Plan& plan, const BodyShape& shape) {
  const double tokens = static_cast<double>(shape.tokens);
  const double attention = static_cast<double>(shape.qkv_width + shape.query_width);
  const double before = plan.model.mlp.gated ? 2 : 1;  // of the activation, in widths of the MLP
  const bool no_mlp = runs_again(plan, &RecomputeModules::mlp),
             no_activation = no_mlp || runs_again(plan, &RecomputeModules::activation);
  const double inner = static_cast<double>(shape.ffn) * ((no_mlp ? 0 : before) + (no_activation ? 0 : 1));
  const double widths = runs_again(plan, &RecomputeModules::norms) ? 2 : 4;
  return shape.element * (widths * width_of(shape) + tokens * (attention + inner));
}

double kept_by_stage(const Plan& plan, Stage stage) {
  const StageLayers& range = plan.stages[stage.index()];
  std::int64_t encoder = 0, decoder = 0;
  for (std::int32_t i = range.first; i < range.last; ++i) {
    const Layer& layer = plan.layers[static_cast<std::size_t>(i)];
    if (layer.kind == LayerKind::block) ++(block_kind(plan.model, layer.index).encoder ? encoder : decoder);
  }
  const RecomputedBlocks scope = recomputed_blocks(plan.run, encoder + decoder);
  std::int64_t left = plan.run.recompute == Recompute::full ? scope.count : 0;
  double bytes = 0;
  const auto add = [&](std::int64_t blocks, const BodyShape& shape) {
    const std::int64_t again = std::min(left, blocks);
    left -= again;
    // Of a piece only the first block's input stays.
    const double inputs =
        std::ceil(static_cast<double>(again) / static_cast<double>(std::max<std::int64_t>(1, scope.piece)));
    bytes += inputs * shape.element * width_of(shape);
    bytes += static_cast<double>(blocks - again) * kept_by_block(plan, shape);
  };
  if (encoder > 0) add(encoder, encoder_shape(plan));
  if (decoder > 0) add(decoder, body_shape(plan));
  return bytes * offloaded_share(plan.run.offload, encoder + decoder);
}

/// Parameters of a stage that this rank's optimizer updates.
double updated_of_stage(const Plan& plan, Stage stage) {
  const double experts = expert_parameters_per_rank(plan, stage);
  return updated_parameters(plan, {parameters_per_rank(plan, stage) - experts, experts});
}

}  // namespace

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
