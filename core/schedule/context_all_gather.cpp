// All-gather of keys and values (arXiv 2407.21783, section 3.3.2): every rank works on its queries and all keys. It
// gathers them again in the backward pass and scatters their gradients.

#include "schedule/core_attention.hpp"

namespace stagecraft {
namespace {

Segment gather_keys(const CoreShape& core, const BodyShape& shape, CollectiveKind kind) {
  return collective(kind == CollectiveKind::all_gather ? "attention-kv-all-gather" : "attention-kv-reduce-scatter",
                    kind, Axis::context, shape.element * key_value_elements(core, core.length));
}

}  // namespace

void add_all_gather_forward(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape, const Plan&) {
  out.push_back(gather_keys(core, shape, CollectiveKind::all_gather));
  add_local_attention_forward(out, core, shape);
}

void add_all_gather_backward(const BackwardList& list, const CoreShape& core, const BodyShape& shape, const Plan&) {
  list.input_grad(gather_keys(core, shape, CollectiveKind::all_gather));
  add_local_attention_backward(list, core, shape);
  list.input_grad(gather_keys(core, shape, CollectiveKind::reduce_scatter));
}

}  // namespace stagecraft
