// Multi-head latent attention in training (arXiv 2405.04434, section 2.1; Megatron-LM
// core/transformer/multi_latent_attention.py): queries, and keys and values together, go through narrow latents that
// are normed and projected up to all heads. The projections down are whole on every tensor rank and see its slice of
// the sequence; what the group gathers is the latents, not the residual stream.

#include "schedule/attention.hpp"
#include "schedule/body_layers.hpp"
#include "schedule/core_attention.hpp"

namespace stagecraft {
namespace {

struct Latent {
  std::int64_t query_rank = 0, kv_rank = 0;
  std::int64_t down = 0;       // width of keys' and values' latent and the common rotary key
  std::int64_t query = 0;      // of this rank's heads, rotary part included
  std::int64_t key_value = 0;  // of this rank's heads: keys without the rotary part, and values
  std::int64_t value = 0;
  std::int64_t rows = 0;  // of the projections down
};

Latent latent_of(const BodyShape& shape, const Plan& plan) {
  const AttentionSpec& attention = plan.model.attention;
  const LatentSpec& spec = attention.latent;
  Latent latent;
  latent.query_rank = spec.query_rank;
  latent.kv_rank = spec.kv_rank;
  latent.down = spec.kv_rank + spec.rope_dim;
  latent.query = shape.heads * (attention.head_dim + spec.rope_dim);
  latent.key_value = shape.heads * (attention.head_dim + spec.value_dim);
  latent.value = shape.heads * spec.value_dim;
  latent.rows = shape.norm_tokens;
  return latent;
}

double product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

// Latents of the whole sequence that the tensor group puts together.
double gathered_bytes(const BodyShape& shape, const Latent& latent) {
  return shape.element * product(shape.tokens, latent.query_rank + latent.down);
}

// Rotation of the rotary parts, and keys put together of their own and the common part: queries and keys read and
// written.
double assembly_bytes(const BodyShape& shape, const Latent& latent) {
  return 4 * shape.element * product(shape.tokens, latent.query);
}

void add_latents(std::vector<Segment>& out, const BodyShape& shape, const Latent& latent) {
  const double e = shape.element;
  if (latent.query_rank > 0) {
    out.push_back(pass("query-latent-norm", 2 * e * product(latent.rows, latent.query_rank)));
  }
  out.push_back(pass("key-value-latent-norm", 2 * e * product(latent.rows, latent.kv_rank)));
}

// Queries, keys and values of all heads of this rank from the latents.
void add_up_projections(std::vector<Segment>& out, const BodyShape& shape, const Latent& latent) {
  if (shape.sequence_parallel) {
    out.push_back(
        collective("latent-all-gather", CollectiveKind::all_gather, Axis::tensor, gathered_bytes(shape, latent)));
  }
  const std::int64_t query_input = latent.query_rank > 0 ? latent.query_rank : shape.hidden;
  out.push_back(gemm("query-up", shape, shape.tokens, latent.query, query_input));
  out.push_back(gemm("key-value-up", shape, shape.tokens, latent.key_value, latent.kv_rank));
  out.push_back(pass("rotary", assembly_bytes(shape, latent), shape.fused ? 2 : 8));
}

void add_forward_again(const BackwardList& list, const BodyShape& shape, const Plan& plan, const Latent& latent) {
  std::vector<Segment> again;
  if (runs_again(plan, &RecomputeModules::norms)) add_latents(again, shape, latent);
  if (runs_again(plan, &RecomputeModules::latent_up_projection)) add_up_projections(again, shape, latent);
  add_again(list, again);
}

CoreShape all_heads(const BodyShape& shape, const Plan& plan, const BlockKind& kind) {
  CoreShape core = core_shape(shape, plan, kind);
  core.kv_heads = core.heads;
  return core;
}

}  // namespace

double kept_by_latent_attention(const BodyShape& shape, const Plan& plan) {
  const Latent latent = latent_of(shape, plan);
  // Each latent before and behind its norm; queries, keys and values of all heads, and what they gave.
  const double copies = runs_again(plan, &RecomputeModules::norms) ? 1 : 2;
  const double latents = copies * product(latent.rows, latent.query_rank + latent.kv_rank);
  const bool projects_again = runs_again(plan, &RecomputeModules::latent_up_projection);
  const std::int64_t heads = projects_again ? 0 : 2 * latent.query + latent.value;
  return latents + product(shape.tokens, heads + latent.value);
}

void add_latent_attention_forward(std::vector<Segment>& out, const BodyShape& shape, const Plan& plan,
                                  const BlockKind& kind) {
  const Latent latent = latent_of(shape, plan);
  if (latent.query_rank > 0) {
    out.push_back(gemm("query-down", shape, latent.rows, latent.query_rank, shape.hidden));
  } else {
    enter_tensor_region(out, "attention-all-gather", shape);
  }
  out.push_back(gemm("key-value-down", shape, latent.rows, latent.down, shape.hidden));
  add_latents(out, shape, latent);
  add_up_projections(out, shape, latent);
  if (plan.run.host.attention_waits) out.push_back(host_wait("attention-host-wait"));
  add_core_attention_forward(out, all_heads(shape, plan, kind), shape, plan);
  for (const Segment& cast : casts("projection-cast", shape, shape.tokens, latent.value)) out.push_back(cast);
  out.push_back(gemm("attention-projection", shape, shape.tokens, shape.hidden, latent.value));
  leave_tensor_region(out, "attention-reduce", shape);
}

void add_latent_attention_backward(const BackwardList& list, const BodyShape& shape, const Plan& plan,
                                   const BlockKind& kind) {
  const Latent latent = latent_of(shape, plan);
  const double e = shape.element;
  add_projection_backward(list, shape, latent.value);
  add_forward_again(list, shape, plan, latent);
  add_core_attention_backward(list, all_heads(shape, plan, kind), shape, plan);
  list.input_grad(pass("rotary-grad", assembly_bytes(shape, latent), shape.fused ? 2 : 8));
  if (shape.sequence_parallel) {
    list.weight_grad(collective("latent-all-gather-again", CollectiveKind::all_gather, Axis::tensor,
                                gathered_bytes(shape, latent), 1));
  }
  const std::int64_t query_input = latent.query_rank > 0 ? latent.query_rank : shape.hidden;
  list.input_grad(gemm("key-value-up-input-grad", shape, shape.tokens, latent.kv_rank, latent.key_value));
  add_weight_grad(list, "key-value-up-weight-grad", "key-value-up-accumulate", shape, shape.tokens, latent.key_value,
                  latent.kv_rank);
  list.input_grad(gemm("query-up-input-grad", shape, shape.tokens, query_input, latent.query));
  add_weight_grad(list, "query-up-weight-grad", "query-up-accumulate", shape, shape.tokens, latent.query, query_input);
  if (shape.tensor > 1) {
    const CollectiveKind reduce = shape.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    list.input_grad(collective("latent-grad-reduce", reduce, Axis::tensor, gathered_bytes(shape, latent), 1));
  }
  list.input_grad(pass("key-value-latent-norm-grad", 3 * e * product(latent.rows, latent.kv_rank)));
  list.input_grad(gemm("key-value-down-input-grad", shape, latent.rows, shape.hidden, latent.down));
  add_weight_grad(list, "key-value-down-weight-grad", "key-value-down-accumulate", shape, latent.rows, latent.down,
                  shape.hidden);
  if (latent.query_rank == 0) return;
  list.input_grad(pass("query-latent-norm-grad", 3 * e * product(latent.rows, latent.query_rank)));
  list.input_grad(gemm("query-down-input-grad", shape, latent.rows, shape.hidden, latent.query_rank));
  add_weight_grad(list, "query-down-weight-grad", "query-down-accumulate", shape, latent.rows, latent.query_rank,
                  shape.hidden);
}

}  // namespace stagecraft
