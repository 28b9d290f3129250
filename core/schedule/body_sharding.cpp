// ZeRO 2 and 3 block by block: what each pass gathers and reduces (FSDP, torch/distributed/fsdp/_fully_shard). While
// one block runs, the next one's parameters arrive and the last one's gradients leave.

#include "schedule/body_layers.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {
namespace {

std::int32_t kernel_count(const std::vector<Segment>& segments) {
  std::int32_t count = 0;
  for (const Segment& segment : segments) count += segment.is_collective ? 0 : 1;
  return count;
}

// ZeRO++ (arXiv 2306.10209): int8 with an fp16 scale for each 2048 numbers.
double bytes_of_gather(const Plan& plan, double parameters) {
  const double each = plan.run.sharding.int8_gather ? 1 + 2.0 / 2048 : bytes_of(recipe_of(plan.run)).compute;
  return parameters * each;
}

void gather(const Plan& plan, const char* name, const UnitParameters& parameters, std::int32_t hides_behind, bool again,
            std::vector<Segment>& out) {
  const std::int32_t behind = plan.run.sharding.prefetch > 0 ? hides_behind : 0;
  const bool second = again && plan.run.sharding.secondary > 0;
  if (!second) add_parameter_copy(out, plan, parameters, behind);
  if (group_size(plan.degrees, Axis::data) < 2) return;
  out.push_back(collective(name, CollectiveKind::all_gather, second ? Axis::secondary : Axis::shard,
                           bytes_of_gather(plan, parameters.dense), behind));
  if (parameters.expert > 0 && group_size(plan.degrees, Axis::expert_data) > 1) {
    out.push_back(collective("experts-shard-all-gather", CollectiveKind::all_gather, Axis::expert_data,
                             bytes_of_gather(plan, parameters.expert), behind));
  }
}

// ZeRO++ reduces by an all-to-all of int4 with scales instead of a reduce-scatter of whole gradients, and pays for
// quantising and adding up: the gradient read, the int4 written and read.
void reduce_over(const Plan& plan, const char* name, Axis axis, double parameters, std::int32_t hides_behind,
                 std::vector<Segment>& out) {
  const double element = gradient_wire_bytes(plan.run);
  if (plan.run.sharding.int4_reduce) {
    out.push_back(pass("gradient-quantise", parameters * (bytes_of(recipe_of(plan.run)).gradient + 2 * 0.5), 2));
    out.push_back(collective(name, CollectiveKind::all_to_all, axis, parameters * (0.5 + 2.0 / 2048), hides_behind));
    out.back().collective.reduced_in_node = true;
  } else {
    out.push_back(collective(name, CollectiveKind::reduce_scatter, axis, parameters * element, hides_behind));
  }
}

void reduce(const Plan& plan, const char* name, const UnitParameters& parameters, std::int32_t hides_behind,
            std::vector<Segment>& out) {
  if (group_size(plan.degrees, Axis::data) < 2) return;
  reduce_over(plan, name, Axis::shard, parameters.dense, hides_behind, out);
  const double shard = static_cast<double>(group_size(plan.degrees, Axis::shard));
  if (group_size(plan.degrees, Axis::replica) > 1) {
    const double bytes = parameters.dense * gradient_wire_bytes(plan.run);
    out.push_back(
        collective("replicas-all-reduce", CollectiveKind::all_reduce, Axis::replica, bytes / shard, hides_behind));
  }
  if (parameters.expert > 0 && group_size(plan.degrees, Axis::expert_data) > 1) {
    reduce_over(plan, "experts-reduce", Axis::expert_data, parameters.expert, hides_behind, out);
  }
}

}  // namespace

bool shards_by_block(const Plan& plan) {
  return plan.run.zero_stage >= 2 && plan.run.sharding.unit == ShardUnit::block && plan.model.plain_layers.empty() &&
         (group_size(plan.degrees, Axis::data) > 1 || plan.run.offload.parameters != Home::gpu);
}

void add_sharded_blocks(Body& body, const Plan& plan, const std::vector<Segment>& block, std::int32_t blocks,
                        const UnitParameters& parameters, Gathers gathers, bool reduces) {
  if (blocks < 1) return;
  const std::int32_t kernels = kernel_count(block);
  const bool gathering = gathers != Gathers::no, again = gathers == Gathers::again;
  const auto put_gather = [&](std::int32_t behind, std::vector<Segment>& out) {
    if (gathering) gather(plan, "block-all-gather", parameters, behind, again, out);
  };
  std::vector<Segment> opening;
  put_gather(0, opening);
  if (gathering) body.parts.push_back({std::move(opening), 1});
  // Each block but the last fetches the next one; each but the first sends the last one's gradients: what travels
  // stands before the kernels that hide it.
  std::vector<Segment> first, between, last;
  put_gather(kernels, first);
  first.insert(first.end(), block.begin(), block.end());
  if (reduces) reduce(plan, "block-reduce-scatter", parameters, kernels, between);
  between.insert(between.end(), first.begin(), first.end());
  if (reduces && blocks > 1) reduce(plan, "block-reduce-scatter", parameters, kernels, last);
  last.insert(last.end(), block.begin(), block.end());
  if (blocks > 1) body.parts.push_back({std::move(first), 1});
  if (blocks > 2) body.parts.push_back({std::move(between), blocks - 2});
  body.parts.push_back({std::move(last), 1});
  std::vector<Segment> tail;
  if (reduces) reduce(plan, "block-reduce-scatter", parameters, 0, tail);
  if (!tail.empty()) body.parts.push_back({std::move(tail), 1});
}

void add_sharded_ends(std::vector<Segment>& out, const Plan& plan, double parameters, bool gathers, bool reduces) {
  if (parameters <= 0) return;
  if (gathers) gather(plan, "ends-all-gather", {parameters, 0}, 0, false, out);
  if (reduces) reduce(plan, "ends-reduce-scatter", {parameters, 0}, 0, out);
}

}  // namespace stagecraft
