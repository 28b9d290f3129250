// Model states on one rank: divided by ZeRO, moved by offload.

#include "memory/footprint.hpp"
#include "memory/framework.hpp"
#include "memory/recipe.hpp"

namespace stagecraft {
namespace {

/// Bytes of one kind of state, dense and expert parameters divided over their own groups.
struct Divided {
  double dense_ranks = 1, expert_ranks = 1;
  Bytes of(double dense, double expert) const { return {dense / dense_ranks + expert / expert_ranks}; }
};

Divided divided_from(const Plan& plan, std::int64_t from_stage) {
  if (plan.run.zero_stage < from_stage) return {};
  const double ranks = static_cast<double>(group_size(plan.degrees, Axis::shard));
  const double holders =
      ranks * plan.degrees.tensor / static_cast<double>(group_size(plan.degrees, Axis::expert_tensor));
  return {ranks, std::max(1.0, holders / static_cast<double>(plan.run.parallel.expert))};
}

Bytes optimizer_bytes(const Plan& plan, const ParameterCount& count) {
  const RecipeBytes& recipe = bytes_of(recipe_of(plan.run));
  const OptimizerStates& states = states_of(plan.run.optimizer);
  const Divided divided = divided_from(plan, 1);
  double per_parameter = optimizer_bytes_per_parameter(recipe, states);
  Bytes bytes = divided.of(count.dense * per_parameter, count.expert * per_parameter);
  if (states.factored) bytes += divided.of(4 * count.factored_dense, 4 * count.factored_expert);
  if (states.small_tensor > 0) bytes += divided.of(count.small * (8 - states.fixed_bytes), 0);
  return bytes;
}

void move(Home home, Bytes& from, ResidentStates& states) {
  if (home == Home::gpu) return;
  (home == Home::host ? states.host : states.nvme) += from;
  from = {};
}

}  // namespace

ResidentStates resident_states(const Plan& plan, const ParameterCount& count) {
  const RunSpec& run = plan.run;
  const RecipeBytes& recipe = bytes_of(recipe_of(run));
  // Whole stages add up whole gradients until the step's one reduction.
  const bool sharded = reduces_in_backward(run.zero_stage, run.sharding);
  const Divided gradients = sharded ? divided_from(plan, 2) : Divided{};
  const Divided parameters = divided_from(plan, 3);
  ResidentStates states;
  Bytes& weight = at(states.gpu, MemoryClass::parameters);
  Bytes& gradient = at(states.gpu, MemoryClass::gradients);
  Bytes& optimizer = at(states.gpu, MemoryClass::optimizer_states);
  weight = parameters.of(count.dense * recipe.weight, count.expert * recipe.weight);
  gradient = gradients.of(count.dense * recipe.gradient, count.expert * recipe.gradient);
  optimizer = optimizer_bytes(plan, count);
  const FrameworkHabits habits = habits_of(run);
  const Bytes flat =
      habits.flat_in_compute ? gradients.of(count.dense * recipe.compute, count.expert * recipe.compute) : gradient;
  gradient += flat * habits.flat_gradients;
  // A gradient that the host's optimizer reads is moved there as soon as it has been reduced.
  if (sharded) move(run.offload.optimizer, gradient, states);
  move(run.offload.optimizer, optimizer, states);
  move(run.offload.parameters, weight, states);
  return states;
}

}  // namespace stagecraft
