#include "memory/sharded.hpp"

#include "spec/recipe.hpp"

namespace stagecraft {

ShardedWorkingSet sharded_working_set(const Plan& plan, const StageCounts& counts) {
  ShardedWorkingSet set;
  const RunSpec& run = plan.run;
  // Parameters on the host come for each use even if nobody else holds a part of them.
  const bool alone = group_size(plan.degrees, Axis::data) == 1 && run.offload.parameters == Home::gpu;
  if (run.zero_stage < 2 || alone) return set;
  const RecipeBytes& recipe = bytes_of(recipe_of(run));
  const double blocks = counts.blocks.all(), block = counts.largest_block.all();
  const double ends = counts.embedding.all() + counts.head.all();
  if (run.sharding.unit == ShardUnit::stage) {
    if (run.zero_stage == 3) set.unshard = {(blocks + ends) * recipe.compute};
    return set;
  }
  double gathered = 0;
  if (run.zero_stage == 3) {
    set.standing = {ends * recipe.compute};
    if (run.sharding.reshard_after_forward) {
      gathered = std::min(blocks, block * static_cast<double>(1 + run.sharding.prefetch)) * recipe.compute;
    } else {
      set.standing += Bytes{blocks * recipe.compute};
    }
  }
  set.forward = {gathered};
  set.backward = {gathered + block * (recipe.compute + recipe.gradient)};
  set.head_gradient = {counts.head.all() * recipe.compute};
  set.ends = {ends * (recipe.compute + recipe.gradient)};
  return set;
}

}  // namespace stagecraft
