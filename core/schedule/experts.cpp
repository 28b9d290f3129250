#include "schedule/experts.hpp"

#include <algorithm>
#include <cmath>

#include "plan/padded_rows.hpp"
#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

std::int64_t expert_tensor(const Plan& plan) {
  return group_size(plan.degrees, Axis::expert_tensor);
}

std::int64_t inner_width(const Plan& plan) {
  return (plan.model.moe.ffn_hidden + expert_tensor(plan) - 1) / expert_tensor(plan);
}

std::int64_t up_width(const Plan& plan) {
  return inner_width(plan) * (plan.model.mlp.gated ? 2 : 1);
}

// Dispatch, products and what lies between them run in streams of their own and hand over by events
// (TransformerEngine, pytorch/module/grouped_linear.py; deepseek-ai/DeepEP).
Segment among_streams(Segment segment) {
  segment.kernel.among_streams = true;
  return segment;
}

// One product per expert of this rank.
Segment grouped(const char* name, const BodyShape& shape, const ExpertRows& rows, std::int64_t n, std::int64_t k) {
  const double each = rows.received / static_cast<double>(rows.local_experts);
  Segment segment = gemm(name, shape, std::max<std::int64_t>(1, std::llround(std::ceil(each))), n, k);
  const auto width = static_cast<double>(n), depth = static_cast<double>(k);
  const double operand = shape.gemm_dtype == Dtype::fp8 ? 1 : shape.element;
  segment.kernel.batch = rows.local_experts;
  segment.kernel.flops = Flops{2 * rows.received * width * depth};
  segment.kernel.bytes =
      Bytes{operand * (rows.received * depth + static_cast<double>(rows.local_experts) * width * depth) +
            shape.element * rows.received * width};
  segment.kernel.average = rows.average;
  segment.kernel.launches = rows.launches;
  return among_streams(segment);
}

void add_grouped_weight_grad(const BackwardList& list, const char* name, const BodyShape& shape, const ExpertRows& rows,
                             std::int64_t n, std::int64_t k) {
  Segment segment = grouped(name, shape, rows, n, k);
  const double weights = static_cast<double>(rows.local_experts) * static_cast<double>(n) * static_cast<double>(k);
  const double operand = shape.gemm_dtype == Dtype::fp8 ? 1 : shape.element;
  const double each = std::max(1.0, std::ceil(rows.received / static_cast<double>(rows.local_experts)));
  segment.kernel.m = k;
  segment.kernel.n = n;
  segment.kernel.k = std::llround(each);
  segment.kernel.bytes = Bytes{operand * rows.received * static_cast<double>(n + k) + 2 * shape.gradient * weights};
  list.weight_grad(segment);
}

std::vector<Segment> expert_casts(const char* name, const BodyShape& shape, const ExpertRows& rows,
                                  std::int64_t columns) {
  std::vector<Segment> segments = casts(name, shape, std::llround(rows.received), columns);
  for (Segment& segment : segments) {
    segment.kernel.launches *= rows.launches;
    segment = among_streams(segment);
  }
  return segments;
}

Segment rows_pass(const char* name, const BodyShape& shape, double read, double written) {
  return among_streams(pass(name, shape.element * (read + written) * static_cast<double>(shape.hidden)));
}

bool is_spread(const Plan& plan) {
  return plan.degrees.expert > 1;
}

// DeepEP takes rows as they are, brings each rank one copy of a token and adds up what comes back
// (deepseek-ai/DeepEP, deep_ep/buffer.py): rows are copied to experts behind the dispatch, and added up before the
// combine, on the rank that holds them.
bool deduplicates(const Plan& plan) {
  return is_spread(plan) && plan.run.experts.dispatcher == Dispatcher::deduplicated;
}

bool copies_into_padding(const Plan& plan) {
  return asks_for_padded_rows(plan.model.moe, plan.run) && !plan.run.experts.router_padding;
}

// All-to-all over the expert group.
Segment all_to_all(const char* name, const Plan& plan, double bytes) {
  Segment segment = collective(name, CollectiveKind::all_to_all, Axis::expert, bytes);
  const MoeSpec& moe = plan.model.moe;
  if (deduplicates(plan)) {
    segment.collective.copies = static_cast<std::int32_t>(moe.top_k);
    segment.collective.most_nodes = static_cast<std::int32_t>(moe.nodes_per_token);
  }
  return segment;
}

// Between the ranks that share an expert: they gather each other's rows and add up their results.
void add_expert_tensor(std::vector<Segment>& out, const char* name, CollectiveKind kind, const BodyShape& shape,
                       const Plan& plan, const ExpertRows& rows) {
  if (expert_tensor(plan) < 2) return;
  out.push_back(
      collective(name, kind, Axis::expert_tensor, shape.element * rows.received * static_cast<double>(shape.hidden)));
}

// Rows that come over the network for the `received` ones that the experts of this rank work on.
double arrived(const Plan& plan, const ExpertRows& rows) {
  if (!deduplicates(plan)) return rows.received;
  const auto copies = static_cast<double>(plan.model.moe.top_k);
  return rows.received * distinct_places(plan.degrees.expert, copies) / copies;
}

// Whether rows are put in the experts' order where they arrive.
bool sorts_rows(const Plan& plan, const ExpertRows& rows) {
  return is_spread(plan) && (rows.local_experts > 1 || deduplicates(plan));
}

// A softmax or sigmoid in fp32, the largest top_k, the map of copies, and where each row goes.
Segment routing(const char* name, const BodyShape&, const Plan& plan, const ExpertRows& rows) {
  constexpr double logits_in_fp32 = 3 * 4, map = 2;
  return pass(name, rows.tokens * static_cast<double>(plan.model.moe.experts) * (logits_in_fp32 + map), 6);
}

// The experts that every token passes: an MLP of their width, divided over the tensor group.
Plan with_shared_width(const Plan& plan) {
  Plan shared;
  shared.model.mlp = plan.model.mlp;
  shared.model.hidden = plan.model.hidden;
  shared.run = plan.run;
  shared.degrees = plan.degrees;
  return shared;
}

BodyShape shared_shape(const BodyShape& shape, const Plan& plan) {
  BodyShape shared = shape;
  shared.ffn = (plan.model.moe.shared_ffn_hidden + shape.tensor - 1) / shape.tensor;
  return shared;
}

// Megatron-LM runs it before it routes (core/transformer/moe/moe_layer.py).
void add_shared_expert_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan) {
  const BodyShape shared = shared_shape(shape, plan);
  enter_tensor_region(out, "shared-expert-all-gather", shared);
  add_mlp_forward(out, shared, with_shared_width(plan));
  leave_tensor_region(out, "shared-expert-reduce", shared);
}

void add_shared_expert_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan) {
  if (shape.sequence_parallel) {
    list.input_grad(
        collective("shared-expert-grad-all-gather", CollectiveKind::all_gather, Axis::tensor, whole_bytes(shape)));
  }
  add_mlp_backward(list, shared_shape(shape, plan), with_shared_width(plan));
}

double activation_tensors(const Plan& plan, bool backward) {
  return plan.model.mlp.gated ? (backward ? 5 : 3) : (backward ? 3 : 2);
}

// Activation between an expert's two products, and what brings its output to fp8.
void add_activation(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan, const ExpertRows& rows) {
  const std::int64_t inner = inner_width(plan);
  add_clamp_forward(out, "experts-clamp", shape, plan.model.mlp, rows.received * static_cast<double>(up_width(plan)));
  out.push_back(among_streams(pass("experts-activation", activation_tensors(plan, false) * shape.element *
                                                             rows.received * static_cast<double>(inner))));
  for (const Segment& cast : expert_casts("experts-down-cast", shape, rows, inner)) out.push_back(cast);
}

void add_forward_again(const BackwardList& list, const BodyShape& shape, const Plan& plan, const ExpertRows& rows) {
  std::vector<Segment> again;
  const bool whole = runs_again(plan, &RecomputeModules::mlp);
  if (whole) again.push_back(grouped("experts-up", shape, rows, up_width(plan), shape.hidden));
  if (whole || runs_again(plan, &RecomputeModules::activation)) add_activation(again, shape, plan, rows);
  add_again(list, again);
}

}  // namespace

double distinct_places(double places, double copies) {
  return places * (1 - std::pow(1 - 1 / places, copies));
}

ExpertRows expert_rows(const BodyShape& shape, const Plan& plan) {
  const MoeSpec& moe = plan.model.moe;
  const auto experts = static_cast<double>(moe.experts), top_k = static_cast<double>(moe.top_k);
  ExpertRows rows;
  rows.tokens = static_cast<double>(shape.norm_tokens);
  rows.local_experts = std::max<std::int64_t>(1, moe.experts / plan.degrees.expert);
  rows.launches = runs_expert_by_expert(plan.run) ? static_cast<std::int32_t>(rows.local_experts) : 1;
  rows.sent = rows.tokens * top_k;
  if (moe.capacity_factor > 0) rows.sent = experts * std::ceil(rows.sent / experts * moe.capacity_factor);
  // An even share of what all ranks of the group send is what one of them sends.
  rows.received = rows.sent * static_cast<double>(expert_tensor(plan));
  if (moe.capacity_factor > 0) return rows;  // padded: all alike
  const double busiest = plan.busiest_expert_rank;
  rows.received *= busiest;
  rows.average = 1 / busiest;
  return rows;
}

double dispatch_bytes(const BodyShape& shape, const Plan& plan) {
  const double hidden = static_cast<double>(shape.hidden);
  const double row = plan.run.experts.fp8_dispatch ? hidden + 4 * std::ceil(hidden / 128) : hidden * shape.element;
  return expert_rows(shape, plan).sent * row;
}

double combine_bytes(const BodyShape& shape, const Plan& plan) {
  return expert_rows(shape, plan).sent * static_cast<double>(shape.hidden) * shape.element;
}

double kept_by_experts(const BodyShape& shape, const Plan& plan) {
  const double received = expert_rows(shape, plan).received, tensors = kept_inner_tensors(shape, plan);
  const double shared = static_cast<double>(shape.tokens) * static_cast<double>(shared_shape(shape, plan).ffn);
  return received * static_cast<double>(shape.hidden) +
         tensors * (received * static_cast<double>(inner_width(plan)) + shared);
}

void add_experts_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan) {
  const MoeSpec& moe = plan.model.moe;
  const ExpertRows rows = expert_rows(shape, plan);
  const bool spread = is_spread(plan), sorts = sorts_rows(plan, rows), permutes = !deduplicates(plan);
  const double came = arrived(plan, rows);
  if (moe.shared_ffn_hidden > 0) add_shared_expert_forward(out, shape, plan);
  out.push_back(gemm("router", shape, std::llround(rows.tokens), moe.experts, shape.hidden));
  out.push_back(routing("routing", shape, plan, rows));
  if (moe.capacity_factor <= 0) out.push_back(host_wait("dropless-host-sync"));
  if (permutes) out.push_back(rows_pass("experts-permute", shape, rows.sent, rows.sent));
  if (spread) out.push_back(all_to_all("experts-dispatch", plan, dispatch_bytes(shape, plan)));
  add_expert_tensor(out, "experts-all-gather", CollectiveKind::all_gather, shape, plan, rows);
  if (sorts) out.push_back(rows_pass("experts-sort", shape, came, rows.received));
  const bool pads = copies_into_padding(plan);
  if (pads) out.push_back(rows_pass("experts-pad", shape, rows.received, rows.received));
  for (const Segment& cast : expert_casts("experts-cast", shape, rows, shape.hidden)) out.push_back(cast);
  out.push_back(grouped("experts-up", shape, rows, up_width(plan), shape.hidden));
  add_activation(out, shape, plan, rows);
  out.push_back(grouped("experts-down", shape, rows, shape.hidden, inner_width(plan)));
  if (pads) out.push_back(rows_pass("experts-unpad", shape, rows.received, rows.received));
  add_expert_bias_forward(out, shape, plan, rows);
  if (sorts) out.push_back(rows_pass("experts-unsort", shape, rows.received, came));
  add_expert_tensor(out, "experts-reduce-scatter", CollectiveKind::reduce_scatter, shape, plan, rows);
  if (spread) out.push_back(all_to_all("experts-combine", plan, combine_bytes(shape, plan)));
  if (permutes) out.push_back(rows_pass("experts-unpermute", shape, rows.sent, rows.tokens));
  if (moe.shared_ffn_hidden > 0) out.push_back(rows_pass("shared-expert-add", shape, 2 * rows.tokens, rows.tokens));
}

void add_experts_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan) {
  const MoeSpec& moe = plan.model.moe;
  const ExpertRows rows = expert_rows(shape, plan);
  const bool spread = is_spread(plan), sorts = sorts_rows(plan, rows), permutes = !deduplicates(plan);
  const double came = arrived(plan, rows);
  const std::int64_t inner = inner_width(plan), up = up_width(plan);
  std::vector<Segment> group;
  const auto over_group = [&](const char* name, CollectiveKind kind) {
    group.clear();
    add_expert_tensor(group, name, kind, shape, plan, rows);
    for (const Segment& segment : group) list.input_grad(segment);
  };
  if (permutes) list.input_grad(rows_pass("experts-unpermute-grad", shape, rows.tokens + rows.sent, rows.sent));
  if (spread) list.input_grad(all_to_all("experts-combine-grad", plan, combine_bytes(shape, plan)));
  over_group("experts-grad-all-gather", CollectiveKind::all_gather);
  if (sorts) {
    // The gradients of a token's weights need what the experts gave.
    const double kept = permutes ? 0 : rows.received;
    list.input_grad(rows_pass("experts-unsort-grad", shape, came + kept, rows.received));
  }
  add_expert_down_bias_backward(list, shape, plan, rows);
  const bool pads = copies_into_padding(plan);
  if (pads) list.input_grad(rows_pass("experts-unpad-grad", shape, rows.received, rows.received));
  add_forward_again(list, shape, plan, rows);
  for (const Segment& cast : expert_casts("experts-grad-cast", shape, rows, shape.hidden)) list.input_grad(cast);
  list.input_grad(grouped("experts-down-input-grad", shape, rows, inner, shape.hidden));
  add_grouped_weight_grad(list, "experts-down-weight-grad", shape, rows, shape.hidden, inner);
  list.input_grad(among_streams(pass("experts-activation-grad", activation_tensors(plan, true) * shape.element *
                                                                    rows.received * static_cast<double>(inner))));
  add_clamp_backward(list, "experts-clamp-grad", shape, plan.model.mlp, rows.received * static_cast<double>(up));
  for (const Segment& cast : expert_casts("experts-up-grad-cast", shape, rows, up)) list.input_grad(cast);
  add_expert_up_bias_backward(list, shape, plan, rows, up);
  list.input_grad(grouped("experts-up-input-grad", shape, rows, shape.hidden, up));
  add_grouped_weight_grad(list, "experts-up-weight-grad", shape, rows, up, shape.hidden);
  if (pads) list.input_grad(rows_pass("experts-pad-grad", shape, rows.received, rows.received));
  if (sorts) list.input_grad(rows_pass("experts-sort-grad", shape, rows.received, came));
  over_group("experts-grad-reduce-scatter", CollectiveKind::reduce_scatter);
  if (spread) list.input_grad(all_to_all("experts-dispatch-grad", plan, combine_bytes(shape, plan)));
  if (permutes) list.input_grad(rows_pass("experts-permute-grad", shape, rows.sent, rows.tokens));
  list.input_grad(routing("routing-grad", shape, plan, rows));
  list.input_grad(gemm("router-input-grad", shape, std::llround(rows.tokens), shape.hidden, moe.experts));
  add_weight_grad(list, "router-weight-grad", "router-accumulate", shape, std::llround(rows.tokens), moe.experts,
                  shape.hidden);
  if (moe.shared_ffn_hidden > 0) add_shared_expert_backward(list, shape, plan);
}

}  // namespace stagecraft
