#include "cost/flops.hpp"

#include <algorithm>
#include <array>

#include "plan/attended.hpp"
#include "schedule/body.hpp"

namespace stagecraft {
namespace {

double sequences(const Plan& plan) {
  return static_cast<double>(plan.run.batch.global);
}
double length(const Plan& plan) {
  return static_cast<double>(plan.run.sequence_length);
}
double hidden(const Plan& plan) {
  return static_cast<double>(plan.model.hidden);
}
double blocks(const Plan& plan) {
  return static_cast<double>(plan.model.blocks);
}
double vocabulary(const Plan& plan) {
  return static_cast<double>(plan.model.vocabulary);
}
bool is_plain(const Plan& plan) {
  return !plan.model.plain_layers.empty();
}

Flops plain_flops(const Plan& plan) {
  Flops forward;
  for (const PlainLayerSpec& layer : plan.model.plain_layers) forward += layer.forward_flops_per_sample;
  return 3.0 * sequences(plan) * forward;
}

// Tokens of a sequence that the block sees.
double tokens_of_block(const Plan& plan, const BlockKind& kind) {
  return kind.encoder ? static_cast<double>(encoder_length(plan)) : length(plan);
}

// Weights of the products of queries, keys and values without ranks of their own, and of the projection.
double query_weights(const Plan& plan) {
  const AttentionSpec& attention = plan.model.attention;
  return hidden(plan) * static_cast<double>(2 * attention.heads * attention.head_dim);
}
double key_value_weights(const Plan& plan) {
  const AttentionSpec& attention = plan.model.attention;
  return hidden(plan) * static_cast<double>(2 * attention.kv_heads * attention.head_dim);
}

// Weights of the matrix products that a token passes in a block: top_k experts of all of them. Those of a decoder's
// attention to the encoder are left out.
double block_weights(const Plan& plan, const BlockKind& kind) {
  const AttentionSpec& attention = plan.model.attention;
  const LatentSpec& latent = attention.latent;
  const MlpSpec& mlp = plan.model.mlp;
  const MoeSpec& moe = plan.model.moe;
  const auto heads = static_cast<double>(attention.heads);
  double projections = 0;
  if (latent.kv_rank > 0) {
    const auto query = heads * static_cast<double>(attention.head_dim + latent.rope_dim);
    const auto rank = static_cast<double>(latent.query_rank), kv_rank = static_cast<double>(latent.kv_rank);
    projections = rank > 0 ? rank * (hidden(plan) + query) : hidden(plan) * query;
    projections += hidden(plan) * (kv_rank + static_cast<double>(latent.rope_dim));
    projections += kv_rank * heads * static_cast<double>(attention.head_dim + latent.value_dim);
    projections += heads * static_cast<double>(latent.value_dim) * hidden(plan);
  } else {
    projections = query_weights(plan) + key_value_weights(plan);
  }
  if (kind.prediction) projections += 2 * hidden(plan) * hidden(plan);
  const double matrices = mlp.gated ? 3 : 2;
  if (!kind.experts) return projections + hidden(plan) * matrices * static_cast<double>(mlp.ffn_hidden);
  // Dropped tokens pass no expert.
  const double kept = moe.capacity_factor > 0 ? std::min(1.0, moe.capacity_factor) : 1;
  const double inner =
      kept * static_cast<double>(moe.top_k * moe.ffn_hidden) + static_cast<double>(moe.shared_ffn_hidden);
  return projections + hidden(plan) * (matrices * inner + static_cast<double>(moe.experts));
}

// Width of one head's products with keys and with values, all heads together.
double attention_width(const Plan& plan) {
  const AttentionSpec& attention = plan.model.attention;
  const bool latent = attention.latent.kv_rank > 0;
  const std::int64_t key = attention.head_dim + (latent ? attention.latent.rope_dim : 0);
  const std::int64_t value = latent ? attention.latent.value_dim : attention.head_dim;
  return static_cast<double>(attention.heads) * static_cast<double>(key + value) / 2;
}

// Products with keys and with values of one sequence: `attended` of the square under a causal mask, windows and packed
// documents see less. Without a causal mask nothing is hidden, and `attended` does not count.
double attention_flops(const Plan& plan, const BlockKind& kind, double attended) {
  const bool causal = plan.model.attention.causal && !kind.encoder;
  Mask mask{causal, kind.windowed ? plan.model.attention.window : 0, {}};
  if (!kind.encoder) mask.lengths = plan.run.batch.lengths;
  const double pairs = attended_pairs(mask, tokens_of_block(plan, kind));
  return 4 * attention_width(plan) * pairs * (causal ? 2 * attended : 1);
}

// A decoder's attention to the encoder, of one sequence: keys and values are made of the encoder's output.
double cross_flops(const Plan& plan) {
  const auto seen = static_cast<double>(encoder_length(plan));
  return 2 * (length(plan) * query_weights(plan) + seen * key_value_weights(plan)) +
         4 * length(plan) * seen * attention_width(plan);
}

// 3 x forward.
Flops gemm_flops(const Plan& plan, double attended) {
  if (is_plain(plan)) return plain_flops(plan);
  const double head = 2 * length(plan) * hidden(plan) * vocabulary(plan);
  double of_sequence = plan.model.head.projection && !plan.model.head.first_token ? head : 0;
  for (const Layer& layer : plan.layers) {
    if (layer.kind != LayerKind::block) continue;
    const BlockKind kind = block_kind(plan.model, layer.index);
    of_sequence += 2 * tokens_of_block(plan, kind) * block_weights(plan, kind) + attention_flops(plan, kind, attended);
    if (kind.cross) of_sequence += cross_flops(plan);
    if (kind.prediction) of_sequence += head;
  }
  return Flops{3 * sequences(plan) * of_sequence};
}

Flops gemm_full_attention(const Plan& plan) {
  return gemm_flops(plan, 1);
}
Flops causal_attention(const Plan& plan) {
  return gemm_flops(plan, 0.5);
}

Flops megatron_sc21(const Plan& plan) {
  if (is_plain(plan)) return plain_flops(plan);
  const double s = length(plan), h = hidden(plan), l = blocks(plan);
  return Flops{96 * sequences(plan) * s * l * h * h * (1 + s / (6 * h) + vocabulary(plan) / (16 * l * h))};
}

Flops parameters_and(const Plan& plan, double attention) {
  if (is_plain(plan)) return plain_flops(plan);
  const double extra = attention * blocks(plan) * hidden(plan) * length(plan);
  return Flops{tokens_of_step(plan) * (6 * active_parameters_of(plan.model) + extra)};
}

Flops six_n(const Plan& plan) {
  return parameters_and(plan, 0);
}
Flops six_n_attention(const Plan& plan) {
  return parameters_and(plan, 12);
}
Flops six_n_causal(const Plan& plan) {
  return parameters_and(plan, 6);
}

constexpr std::array<FlopConvention, 6> conventions{{
    {"gemm-full-attention", "3 x (forward GEMMs + full attention + head)",
     "Korthikanti et al., arXiv 2205.05198, appendix A: 72 B L s h^2 (1 + s/6h + V/12hL)", false, gemm_full_attention},
    {"causal-attention", "3 x (forward GEMMs + half of the attention + head)",
     "NVIDIA Megatron-Bridge performance tables from 25.09", false, causal_attention},
    {"megatron-sc21", "96 B s l h^2 (1 + s/6h + V/16lh), recompute counted",
     "Narayanan et al., SC21, arXiv 2104.04473, equation 3", true, megatron_sc21},
    {"6n", "6 N per token", "Kaplan et al., arXiv 2001.08361, section 2.1", false, six_n},
    {"6n-attention", "6 N + 12 L h s per token", "Chowdhery et al. (PaLM), arXiv 2204.02311, appendix B", false,
     six_n_attention},
    {"6n-causal-attention", "6 N + 6 L h s per token", "Dao, arXiv 2307.08691, section 4.2, causal", false,
     six_n_causal},
}};

// Of a body, attention counted whole where its kernels skip what a causal mask hides.
Flops whole_square_flops(const Body& body) {
  Flops sum;
  for (const BodyPart& part : body.parts) {
    for (const Segment& segment : part.segments) {
      sum += segment.kernel.flops * (part.repeat * segment.kernel.average * (segment.kernel.masked ? 2.0 : 1.0));
    }
  }
  return sum;
}

}  // namespace

double tokens_of_step(const Plan& plan) {
  return sequences(plan) * length(plan);
}

std::span<const FlopConvention> flop_conventions() {
  return conventions;
}

const FlopConvention* find_flop_convention(std::string_view name) {
  for (const FlopConvention& convention : conventions) {
    if (name == convention.name) return &convention;
  }
  return nullptr;
}

Flops hardware_flops_of_step(const Plan& plan) {
  const Bodies bodies = make_bodies(plan);
  Flops per_micro_batch;
  for (const std::vector<BodyId>& of_kind : bodies.of_stage) {
    for (const OpKind kind : {OpKind::forward, OpKind::backward, OpKind::recompute}) {
      const BodyId body = of_kind[static_cast<std::size_t>(kind)];
      if (body.valid()) per_micro_batch += whole_square_flops(bodies.bodies[body.index()]);
    }
  }
  const double tensor_ranks = plan.model.plain_layers.empty() ? plan.degrees.tensor : 1.0;
  const double ranks = tensor_ranks * plan.degrees.context * plan.degrees.data;
  return per_micro_batch * (ranks * plan.micro_batches);
}

}  // namespace stagecraft
