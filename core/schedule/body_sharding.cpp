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

Segment gather(const Plan& plan, const char* name, double parameters, std::int32_t hides_behind) {
  return collective(name, CollectiveKind::all_gather, Axis::shard, parameters * bytes_of(recipe_of(plan.run)).compute,
                    plan.run.sharding.prefetch > 0 ? hides_behind : 0);
}

void reduce(const Plan& plan, const char* name, double parameters, std::int32_t hides_behind,
            std::vector<Segment>& out) {
  const double bytes = parameters * bytes_of(recipe_of(plan.run)).gradient;
  out.push_back(collective(name, CollectiveKind::reduce_scatter, Axis::shard, bytes, hides_behind));
  const double shard = static_cast<double>(group_size(plan.degrees, Axis::shard));
  if (group_size(plan.degrees, Axis::replica) > 1) {
    out.push_back(
        collective("replicas-all-reduce", CollectiveKind::all_reduce, Axis::replica, bytes / shard, hides_behind));
  }
}

}  // namespace

bool shards_by_block(const Plan& plan) {
  return plan.run.zero_stage >= 2 && plan.run.sharding.unit == ShardUnit::block && plan.model.plain_layers.empty() &&
         group_size(plan.degrees, Axis::data) > 1;
}

void add_sharded_blocks(Body& body, const Plan& plan, const std::vector<Segment>& block, std::int32_t blocks,
                        double parameters, bool gathers, bool reduces) {
  if (blocks < 1) return;
  const std::int32_t kernels = kernel_count(block);
  if (gathers) body.parts.push_back({{gather(plan, "block-all-gather", parameters, 0)}, 1});
  // Each block but the last fetches the next one; each but the first sends the last one's gradients.
  std::vector<Segment> between;
  if (gathers) between.push_back(gather(plan, "block-all-gather", parameters, kernels));
  between.insert(between.end(), block.begin(), block.end());
  if (blocks > 1) body.parts.push_back({between, 1});
  if (reduces) reduce(plan, "block-reduce-scatter", parameters, kernels, between);
  if (reduces && blocks > 1) {  // reductions stand before the kernels that hide them
    std::vector<Segment> ordered(between.begin() + static_cast<std::ptrdiff_t>(block.size() + (gathers ? 1 : 0)),
                                 between.end());
    ordered.insert(ordered.end(), between.begin(),
                   between.begin() + static_cast<std::ptrdiff_t>(block.size() + (gathers ? 1 : 0)));
    between = std::move(ordered);
  }
  if (blocks > 2) body.parts.push_back({between, blocks - 2});
  std::vector<Segment> last;
  if (reduces && blocks > 1) reduce(plan, "block-reduce-scatter", parameters, kernels, last);
  last.insert(last.end(), block.begin(), block.end());
  body.parts.push_back({std::move(last), 1});
  if (reduces) {
    std::vector<Segment> tail;
    reduce(plan, "block-reduce-scatter", parameters, 0, tail);
    body.parts.push_back({std::move(tail), 1});
  }
}

void add_sharded_ends(std::vector<Segment>& out, const Plan& plan, double parameters, bool gathers, bool reduces) {
  if (parameters <= 0) return;
  if (gathers) out.push_back(gather(plan, "ends-all-gather", parameters, 0));
  if (reduces) reduce(plan, "ends-reduce-scatter", parameters, 0, out);
}

}  // namespace stagecraft
