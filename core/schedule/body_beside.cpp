// A block of experts whose exchanges hide behind another micro-batch's kernels (Megatron-LM, core/models/common/
// model_chunk_schedule_plan.py, TransformerLayerSchedulePlan.run; the idea is that of arXiv 2412.19437, section 3.2.1):
//
//   exchanges   combine-grad        | dispatch -> dispatch-grad         | combine
//   kernels     weights, attention  | MLP-grad -> weights -> MLP        | attention-grad
//
// An exchange has the kernels of its own column to hide behind and no others, since what stands to its right needs it.
// What follows the combine (and what stands before its gradient) is part of neither column.

#include <algorithm>
#include <iterator>
#include <string_view>

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

using Segments = std::vector<Segment>;

bool is_exchange(const Segment& segment) {
  return segment.is_collective && segment.collective.group == Axis::expert;
}

bool is_of_experts(const Segment& segment) {
  return std::string_view(segment.name).substr(0, 7) == "experts";
}

/// A pass cut at its two exchanges.
struct Thirds {
  Segments before, between, behind;
  Segment first, second;
};

Thirds cut_at_exchanges(const Segments& pass) {
  const auto first = std::find_if(pass.begin(), pass.end(), is_exchange);
  const auto second = std::find_if(std::next(first), pass.end(), is_exchange);
  return {{pass.begin(), first}, {std::next(first), second}, {std::next(second), pass.end()}, *first, *second};
}

/// Whatever else is sent hides where it does in a pass of its own.
void append(Segments& out, const Segments& more) {
  for (Segment segment : more) {
    segment.hides_behind = 0;
    out.push_back(segment);
  }
}

void append_exchange(Segments& out, Segment exchange, std::int32_t behind) {
  exchange.hides_behind = behind;
  out.push_back(exchange);
}

std::int32_t kernels(const Segments& segments) {
  const auto is_kernel = [](const Segment& segment) { return !segment.is_collective; };
  return static_cast<std::int32_t>(std::count_if(segments.begin(), segments.end(), is_kernel));
}

}  // namespace

std::vector<Segment> beside_another_pass(const BodyShape& shape, const Plan& plan, const BlockKind& kind, bool weight) {
  if (!kind.experts || !plan.run.overlap.expert || plan.degrees.expert < 2) return {};
  const bool later = weight && plan.run.overlap.delay_weight_grad;
  Segments forward_pass, backward_pass, weights, of_experts, of_attention;
  add_block_forward(forward_pass, shape, plan, kind);
  add_block_backward({true, weight && !later, &backward_pass}, shape, plan, kind);
  if (later) add_block_backward({false, true, &weights}, shape, plan, kind);
  std::partition_copy(weights.begin(), weights.end(), std::back_inserter(of_experts), std::back_inserter(of_attention),
                      is_of_experts);
  const Thirds forward = cut_at_exchanges(forward_pass), backward = cut_at_exchanges(backward_pass);
  Segments out;
  append_exchange(out, backward.first, kernels(of_attention) + kernels(forward.before));
  append(out, of_attention);
  append(out, forward.before);
  append_exchange(out, forward.first, kernels(backward.between) + kernels(of_experts));
  append(out, backward.between);
  append_exchange(out, backward.second, kernels(of_experts) + kernels(forward.between));
  append(out, of_experts);
  append(out, forward.between);
  append_exchange(out, forward.second, kernels(backward.behind));
  append(out, backward.behind);
  return out;
}

}  // namespace stagecraft
