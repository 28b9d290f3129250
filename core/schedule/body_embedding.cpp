// Embedding lookup, vocabulary-parallel (Megatron-LM VocabParallelEmbedding): every rank looks up the rows that it
// holds, the sum over the tensor group (or its reduce-scatter under sequence parallelism) has them all.

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

double elements(const BodyShape& shape) {
  return static_cast<double>(shape.tokens) * static_cast<double>(shape.hidden);
}

}  // namespace

void add_embedding_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan) {
  const double e = shape.element;
  const double rows = static_cast<double>(shape.norm_tokens) * static_cast<double>(shape.hidden);
  if (plan.model.embedding.patch_inputs > 0) {
    out.push_back(gemm("patch-projection", shape, shape.norm_tokens, shape.hidden, plan.model.embedding.patch_inputs));
    if (plan.model.positions == Positions::learned) out.push_back(pass("position-embedding", 3 * e * rows));
    if (plan.model.dropout > 0) out.push_back(pass("embedding-dropout", rows * (2 * e + 1)));
    return;
  }
  // Gathers the rows and writes them; a vocabulary-parallel lookup also zeroes the rows of others.
  out.push_back(pass("embedding-lookup", elements(shape) * e * (shape.tensor > 1 ? 3 : 2), shape.tensor > 1 ? 3 : 1));
  leave_tensor_region(out, "embedding-reduce", shape);
  if (plan.model.positions == Positions::learned) out.push_back(pass("position-embedding", 3 * e * rows));
  if (plan.model.embedding.token_types > 0) out.push_back(pass("token-type-embedding", 3 * e * rows));
  if (plan.model.embedding.norm) add_norm_forward(out, "embedding-norm", shape);
  if (plan.model.dropout > 0) out.push_back(pass("embedding-dropout", rows * (2 * e + 1)));
}

void add_embedding_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan) {
  const double e = shape.element;
  const double rows = static_cast<double>(shape.norm_tokens) * static_cast<double>(shape.hidden);
  if (plan.model.dropout > 0) list.weight_grad(pass("embedding-dropout-grad", rows * (2 * e + 1)));
  if (plan.model.embedding.norm) {
    add_norm_backward(list, "embedding-norm-grad", "embedding-norm-weight-grad", shape);
  }
  if (plan.model.embedding.patch_inputs > 0) {
    add_weight_grad(list, "patch-weight-grad", "patch-accumulate", shape, shape.norm_tokens, shape.hidden,
                    plan.model.embedding.patch_inputs);
    return;
  }
  if (shape.sequence_parallel) {
    list.weight_grad(
        collective("embedding-grad-all-gather", CollectiveKind::all_gather, Axis::tensor, e * elements(shape)));
  }
  // A dense gradient is zeroed, the tokens' rows are added into it, and it is added to the accumulated gradient.
  const double weights = static_cast<double>(shape.vocabulary) * static_cast<double>(shape.hidden);
  list.weight_grad(pass("embedding-weight-grad", 3 * e * elements(shape) + weights * (2 * e + 2 * shape.gradient), 3));
}

}  // namespace stagecraft
