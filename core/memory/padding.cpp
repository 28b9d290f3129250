#include "memory/padding.hpp"

#include <algorithm>
#include <cmath>

#include "memory/local_shape.hpp"
#include "memory/parameters.hpp"
#include "memory/recipe.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {
namespace {

struct Sharding {
  double ranks = 1, tensor = 1;
};

/// Rows up to a multiple of the ranks, as this rank's share of elements.
double missing_rows(const std::vector<ParameterTensor>& tensors, const Sharding& over) {
  double missing = 0;
  for (const ParameterTensor& tensor : tensors) {
    if (tensor.experts > 0) continue;
    const double on_rank = tensor.elements / (tensor.divided ? over.tensor : 1);
    const double rows = tensor.rows > 0 ? std::max(1.0, tensor.rows / (tensor.divided ? over.tensor : 1)) : on_rank;
    if (rows > 0) missing += (std::ceil(rows / over.ranks) - rows / over.ranks) * (on_rank / rows);
  }
  return missing;
}

double missing_elements(double elements, double alignment, double ranks) {
  const double share = elements / ranks;
  return std::ceil(share / alignment) * alignment - share;
}

std::vector<ParameterTensor> tensors_of(const Plan& plan, LayerKind kind) {
  return parameter_tensors(plan, {kind, 0});
}

}  // namespace

Bytes padding_of_shards(const Plan& plan) {
  const RunSpec& run = plan.run;
  const Sharding over{static_cast<double>(group_size(plan.degrees, Axis::shard)), local_shape(plan).tensor};
  if (run.zero_stage < 1 || over.ranks < 2 || !plan.model.plain_layers.empty()) return {};
  const RecipeBytes& recipe = bytes_of(recipe_of(run));
  double bytes = optimizer_bytes_per_parameter(recipe, states_of(run.optimizer));
  if (run.zero_stage >= 2) bytes += recipe.gradient;
  if (run.zero_stage >= 3) bytes += recipe.weight;
  const std::vector<ParameterTensor> block = tensors_of(plan, LayerKind::block);
  double blocks = 0;
  for (const StageLayers& stage : plan.stages) {
    double here = 0;
    for (std::int32_t l = stage.first; l < stage.last; ++l) {
      here += plan.layers[static_cast<std::size_t>(l)].kind == LayerKind::block ? 1 : 0;
    }
    blocks = std::max(blocks, here * static_cast<double>(run.parallel.virtual_stages));
  }
  if (run.framework == Framework::fsdp) {
    const double ends = missing_rows(tensors_of(plan, LayerKind::embedding), over) +
                        missing_rows(tensors_of(plan, LayerKind::head), over);
    return {(blocks * missing_rows(block, over) + ends) * bytes};
  }
  const double alignment = run.framework == Framework::deepspeed ? 2 : 128;
  const double elements = blocks * count_on_rank(block, over.tensor, 1).dense;
  return {missing_elements(elements, alignment, over.ranks) * bytes};
}

}  // namespace stagecraft
