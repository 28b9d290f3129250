// DeepSpeed-Ulysses (arXiv 2309.14509, section 3): an all-to-all turns slices of the sequence with all heads into whole
// sequences with a slice of the heads, and another turns the output back. With fewer ranks than the context group has,
// the rest of the group forms a ring over longer slices (arXiv 2405.07719).

#include <algorithm>

#include "schedule/core_attention.hpp"

namespace stagecraft {
namespace {

struct Exchanged {
  CoreShape core;                // behind the all-to-all
  double input = 0, output = 0;  // bytes that a rank sends, its own part included
};

Exchanged exchanged(const CoreShape& core, const BodyShape& shape, const Plan& plan) {
  const std::int64_t ranks = group_size(plan.degrees, Axis::ulysses);
  Exchanged result;
  // Ranks beyond the key and value heads get copies of them.
  CoreShape sent = core;
  sent.kv_heads = std::max(core.kv_heads, ranks);
  result.input = shape.element * (query_elements(core, core.queries) + key_value_elements(sent, core.queries));
  result.output = shape.element * output_elements(core, core.queries);
  result.core = core;
  result.core.heads = std::max<std::int64_t>(1, core.heads / ranks);
  result.core.kv_heads = sent.kv_heads / ranks;
  result.core.context = core.context / ranks;
  result.core.queries = core.queries * ranks;
  result.core.keys = core.length;
  const auto tokens = static_cast<double>(core.length);
  const ContextPairs pairs = context_pairs(core.mask, tokens, result.core.context, plan.run.parallel.zig_zag);
  const double uneven =
      core.pairs / std::max(1.0, context_pairs(core.mask, tokens, core.context, plan.run.parallel.zig_zag).busiest);
  result.core.pairs = pairs.busiest * uneven;
  result.core.average = result.core.pairs > 0 ? pairs.average / result.core.pairs : 1;
  return result;
}

}  // namespace

void add_ulysses_forward(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape, const Plan& plan) {
  const Exchanged inner = exchanged(core, shape, plan);
  out.push_back(collective("ulysses-input-all-to-all", CollectiveKind::all_to_all, Axis::ulysses, inner.input));
  if (inner.core.context > 1) {
    add_ring_forward(out, inner.core, shape, plan);
  } else {
    add_local_attention_forward(out, inner.core, shape);
  }
  out.push_back(collective("ulysses-output-all-to-all", CollectiveKind::all_to_all, Axis::ulysses, inner.output));
}

void add_ulysses_backward(const BackwardList& list, const CoreShape& core, const BodyShape& shape, const Plan& plan) {
  const Exchanged inner = exchanged(core, shape, plan);
  list.input_grad(
      collective("ulysses-output-grad-all-to-all", CollectiveKind::all_to_all, Axis::ulysses, inner.output));
  if (inner.core.context > 1) {
    add_ring_backward(list, inner.core, shape, plan);
  } else {
    add_local_attention_backward(list, inner.core, shape);
  }
  list.input_grad(collective("ulysses-input-grad-all-to-all", CollectiveKind::all_to_all, Axis::ulysses, inner.input));
}

}  // namespace stagecraft
