// Ring attention (arXiv 2310.01889; zig-zag slices: arXiv 2311.09431): every rank keeps its queries and passes keys and
// values to its neighbour, so that in as many steps as ranks every query has met every key. The next block of keys
// arrives while one is worked on. In the backward pass the gradients of keys and values travel along and come home in a
// last hop (Transformer Engine, attention with cp_comm_type "p2p"). Partial results are merged by their log-sum-exp.

#include <algorithm>
#include <cmath>

#include "schedule/core_attention.hpp"

namespace stagecraft {
namespace {

// The step on the own keys lies on the diagonal; the others share what is left evenly. With zig-zag slices all steps
// are alike: half of the queries, or half of the keys, count. The busiest rank is no busier than the others on its own.
CoreShape step_shape(const CoreShape& core, bool own) {
  CoreShape step = core;
  step.keys = core.queries;
  const double square = static_cast<double>(core.queries) * static_cast<double>(core.queries);
  const double diagonal = std::min(core.pairs, core.causal ? square / 2 : square);
  const double average = core.pairs * core.average, own_average = std::min(average, diagonal);
  if (own) {
    step.pairs = diagonal;
    step.average = diagonal > 0 ? own_average / diagonal : 1;
    return step;
  }
  step.causal = false;
  step.of_others = true;
  step.pairs = (core.pairs - diagonal) / static_cast<double>(core.context - 1);
  step.average = core.pairs > diagonal ? (average - own_average) / (core.pairs - diagonal) : 1;
  const double keys = std::ceil(step.pairs / static_cast<double>(core.queries));
  step.keys = std::clamp<std::int64_t>(static_cast<std::int64_t>(keys), 1, core.queries);
  return step;
}

Segment exchange(const char* name, const CoreShape& core, const BodyShape& shape, double copies, std::int32_t hides) {
  return collective(name, CollectiveKind::exchange, Axis::ring,
                    copies * shape.element * key_value_elements(core, core.queries), hides);
}

// Reads a partial output and the sum so far, writes the sum.
Segment merge(const CoreShape& core, const BodyShape& shape) {
  return pass("ring-merge", 3 * shape.element * output_elements(core, core.queries));
}

}  // namespace

void add_ring_forward(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape, const Plan&) {
  const CoreShape own = step_shape(core, true), other = step_shape(core, false);
  for (std::int64_t step = 0; step < core.context; ++step) {
    if (step + 1 < core.context) out.push_back(exchange("ring-key-value", core, shape, 1, 1));
    add_local_attention_forward(out, step == 0 ? own : other, shape);
    if (step > 0) out.push_back(merge(core, shape));
  }
}

void add_ring_backward(const BackwardList& list, const CoreShape& core, const BodyShape& shape, const Plan&) {
  const CoreShape own = step_shape(core, true), other = step_shape(core, false);
  for (std::int64_t step = 0; step < core.context; ++step) {
    if (step + 1 < core.context) list.input_grad(exchange("ring-key-value", core, shape, 1, 1));
    if (step > 0) list.input_grad(exchange("ring-key-value-grad", core, shape, 1, 1));
    add_local_attention_backward(list, step == 0 ? own : other, shape);
  }
  list.input_grad(exchange("ring-key-value-grad", core, shape, 1, 0));
}

}  // namespace stagecraft
