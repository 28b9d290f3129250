// Fully sharded parameters (ZeRO 3, arXiv 1910.02054, section 5.3), block by block as PyTorch FSDP wraps them (arXiv
// 2304.11277, section 3): the parameters of a block are gathered before its forward and again before its backward, the
// next block's while this one computes; its gradients are scattered after its backward, for every micro-batch.
// Embedding and head form the root unit, which is gathered once per micro-batch and behind nothing.

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

bool is_sharded(const Plan& plan) {
  return plan.run.zero_stage >= 3 && plan.degrees.data * plan.degrees.context > 1;
}

std::int32_t kernels_of(const std::vector<Segment>& part) {
  std::int32_t count = 0;
  for (const Segment& segment : part) count += segment.is_collective ? 0 : 1;
  return count;
}

void put_first(std::vector<Segment>& part, const Segment& segment) {
  part.insert(part.begin(), segment);
}

}  // namespace

double block_parameters(const Plan& plan) {
  return parameters_of(plan.model, {LayerKind::block, 0}) / static_cast<double>(plan.degrees.tensor);
}

double root_parameters(const Plan& plan, bool embedding, bool head) {
  double sum = 0;
  if (embedding) sum += parameters_of(plan.model, {LayerKind::embedding, 0});
  if (head) sum += parameters_of(plan.model, {LayerKind::head, 0});
  return sum / static_cast<double>(plan.degrees.tensor);
}

void add_unshard(std::vector<Segment>& part, const BodyShape& shape, const Plan& plan, const char* name,
                 double parameters, bool prefetched) {
  if (!is_sharded(plan) || parameters <= 0) return;
  const std::int32_t behind = prefetched && plan.run.overlap.parameter_gather ? kernels_of(part) : 0;
  put_first(part, collective(name, CollectiveKind::all_gather, Axis::data, parameters * shape.element, behind));
}

void add_reduce_scatter(std::vector<Segment>& part, const BodyShape& shape, const Plan& plan, const char* name,
                        double parameters, bool overlapped) {
  if (!is_sharded(plan) || parameters <= 0) return;
  const std::int32_t behind = overlapped && plan.run.overlap.gradient_reduce ? kernels_of(part) : 0;
  const Segment scatter =
      collective(name, CollectiveKind::reduce_scatter, Axis::data, parameters * shape.gradient, behind);
  // Blocks repeat: what hides behind the next block stands before this one's kernels.
  if (behind > 0) {
    put_first(part, scatter);
  } else {
    part.push_back(scatter);
  }
}

}  // namespace stagecraft
