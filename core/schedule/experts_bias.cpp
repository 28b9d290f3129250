// A token's weight multiplies what an expert gives, so the bias of the second product has to be multiplied too.
// TransformerEngine's products add the first bias and sum its gradient themselves; what it gives for the second one
// Megatron-LM adds expert by expert in elementary operations, in fp32 because the weights are
// (core/transformer/moe/experts.py, TEGroupedMLP._apply_bias). Others are taken to do it in one pass.

#include "schedule/experts.hpp"

namespace stagecraft {
namespace {

constexpr double fp32 = 4;

double elements(const BodyShape& shape, const ExpertRows& rows) {
  return rows.received * static_cast<double>(shape.hidden);
}

std::int32_t experts_of(const ExpertRows& rows) {
  return static_cast<std::int32_t>(rows.local_experts);
}

}  // namespace

void add_expert_bias_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan,
                             const ExpertRows& rows) {
  if (!plan.model.mlp.bias) return;
  const double e = shape.element;
  if (!runs_expert_by_expert(plan.run)) return out.push_back(pass("experts-down-bias", 2 * e * elements(shape, rows)));
  const double weighted = fp32, added = e + 2 * fp32, joined = 2 * fp32, cast = fp32 + e;
  out.push_back(
      pass("experts-down-bias", (weighted + added + joined + cast) * elements(shape, rows), 2 * experts_of(rows) + 2));
}

void add_expert_down_bias_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan,
                                   const ExpertRows& rows) {
  if (!plan.model.mlp.bias) return;
  const double e = shape.element;
  if (!runs_expert_by_expert(plan.run))
    return list.weight_grad(pass("experts-down-bias-grad", e * elements(shape, rows)));
  // To fp32; of each expert's rows back to the products' dtype, and all joined.
  const double rows_grad = (e + fp32) + (fp32 + e) + 2 * e;
  // Gradients of the bias and of the weights: a product, and its sum over rows or columns.
  const double product_and_sum = 2 * fp32 + fp32;
  list.input_grad(pass("experts-down-bias-grad", (rows_grad + 2 * product_and_sum) * elements(shape, rows),
                       5 * experts_of(rows) + 2));
}

void add_expert_up_bias_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan,
                                 const ExpertRows& rows, std::int64_t up) {
  if (!plan.model.mlp.bias || runs_expert_by_expert(plan.run)) return;
  list.weight_grad(pass("experts-up-bias-grad", shape.element * rows.received * static_cast<double>(up)));
}

}  // namespace stagecraft
