#include "schedule/core_attention.hpp"

#include <algorithm>
#include <array>

#include "schedule/body_layers.hpp"

namespace stagecraft {
namespace {

struct Method {
  ContextMethod method;
  AttentionForward forward;
  AttentionBackward backward;
};

// How a context group computes attention; one line per method.
constexpr std::array<Method, 4> methods{{
    {ContextMethod::ring, add_ring_forward, add_ring_backward},
    {ContextMethod::ulysses, add_ulysses_forward, add_ulysses_backward},
    {ContextMethod::all_gather, add_all_gather_forward, add_all_gather_backward},
    {ContextMethod::combined, add_ulysses_forward, add_ulysses_backward},
}};

const Method& method_of(const Plan& plan) {
  return *std::find_if(methods.begin(), methods.end(),
                       [&](const Method& method) { return method.method == plan.run.parallel.context_method; });
}

}  // namespace

std::int32_t flash_version(AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::flash_1:
      return 1;
    case AttentionKernel::flash_2:
      return 2;
    case AttentionKernel::flash_3:
      return 3;
    case AttentionKernel::flash_4:
      return 4;
    case AttentionKernel::unfused:
    case AttentionKernel::fused_softmax:
      break;
  }
  return 0;
}

CoreShape core_shape(const BodyShape& shape, const Plan& plan, const BlockKind& kind, bool cross) {
  const AttentionSpec& attention = plan.model.attention;
  CoreShape core;
  core.sequences = shape.sequences;
  core.heads = shape.heads;
  core.kv_heads = shape.kv_heads;
  const LatentSpec& latent = attention.latent;
  core.head_dim = attention.head_dim + (latent.kv_rank > 0 ? latent.rope_dim : 0);
  core.value_dim = latent.kv_rank > 0 ? latent.value_dim : attention.head_dim;
  core.context = shape.context;
  core.queries = shape.query_length;
  core.length = cross ? encoder_length(plan) : shape.key_length;
  core.keys = core.length;
  core.causal = core.masked = attention.causal && !kind.encoder && !cross;
  core.mask = {core.causal, kind.windowed && !cross ? attention.window : 0, {}};
  if (!cross) core.mask.lengths = plan.run.batch.lengths;
  const AttentionKernel kernel = plan.run.attention_kernel;
  core.fused_softmax = kernel == AttentionKernel::fused_softmax;
  core.flash = kernel != AttentionKernel::unfused && !core.fused_softmax;
  core.flash_version = flash_version(kernel);
  core.again = runs_again(plan, &RecomputeModules::core_attention);
  core.dropout = plan.model.dropout > 0;
  if (cross) {
    core.pairs = static_cast<double>(core.queries) * static_cast<double>(core.length);
    return core;
  }
  const auto tokens = static_cast<double>(core.length);
  const ContextPairs pairs = context_pairs(core.mask, tokens, core.context, plan.run.parallel.zig_zag);
  const double sequences = static_cast<double>(core.sequences) * plan.micro_batches;
  const double uneven = 1 + packing_imbalance(core.mask, tokens, sequences, plan.degrees.data);
  core.pairs = pairs.busiest * uneven;
  core.average = core.pairs > 0 ? pairs.average / core.pairs : 1;
  return core;
}

double query_elements(const CoreShape& core, std::int64_t tokens) {
  return static_cast<double>(core.sequences * tokens) * static_cast<double>(core.heads * core.head_dim);
}

double output_elements(const CoreShape& core, std::int64_t tokens) {
  return static_cast<double>(core.sequences * tokens) * static_cast<double>(core.heads * core.value_dim);
}

double key_value_elements(const CoreShape& core, std::int64_t tokens) {
  return static_cast<double>(core.sequences * tokens) *
         static_cast<double>(core.kv_heads * (core.head_dim + core.value_dim));
}

void add_core_attention_forward(std::vector<Segment>& out, const CoreShape& core, const BodyShape& shape,
                                const Plan& plan) {
  if (core.context > 1) return method_of(plan).forward(out, core, shape, plan);
  add_local_attention_forward(out, core, shape);
}

void add_core_attention_backward(const BackwardList& list, const CoreShape& core, const BodyShape& shape,
                                 const Plan& plan) {
  if (core.context > 1) return method_of(plan).backward(list, core, shape, plan);
  add_local_attention_backward(list, core, shape);
}

}  // namespace stagecraft
