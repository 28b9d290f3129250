#include "cost/flops.hpp"

#include <array>

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

// Forward products of one block with weights, per token: 2 x weights.
double block_weights(const Plan& plan) {
  const AttentionSpec& attention = plan.model.attention;
  const MlpSpec& mlp = plan.model.mlp;
  const double qkv = static_cast<double>((attention.heads + 2 * attention.kv_heads) * attention.head_dim);
  const double projection = static_cast<double>(attention.heads * attention.head_dim);
  const double matrices = mlp.gated ? 3 : 2;
  return hidden(plan) * (qkv + projection + matrices * static_cast<double>(mlp.ffn_hidden));
}

// 3 x forward, with `attended` of the score matrix.
Flops gemm_flops(const Plan& plan, double attended) {
  if (is_plain(plan)) return plain_flops(plan);
  const AttentionSpec& attention = plan.model.attention;
  const double width = static_cast<double>(attention.heads * attention.head_dim);
  const double per_token = blocks(plan) * (2 * block_weights(plan) + 4 * length(plan) * width * attended) +
                           2 * hidden(plan) * vocabulary(plan);
  return Flops{3 * tokens_of_step(plan) * per_token};
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
  return Flops{tokens_of_step(plan) * (6 * parameters_of(plan.model) + extra)};
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

// Of a body, attention counted whole where the kernel skips what a causal mask hides.
Flops whole_square_flops(const Body& body) {
  Flops sum;
  for (const BodyPart& part : body.parts) {
    for (const Segment& segment : part.segments) {
      const bool skips = segment.kernel.kind == KernelKind::attention && segment.kernel.causal;
      sum += segment.kernel.flops * (part.repeat * (skips ? 2.0 : 1.0));
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
