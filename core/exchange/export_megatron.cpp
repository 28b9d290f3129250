// A Megatron-LM command line that runs a scenario: shapes, degrees, order of ranks, interleaving. Ranks are numbered as
// Megatron-LM does by default (tp-cp-ep-dp-pp); of other placements it knows one, tp-cp-ep-pp-dp.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "exchange/changed_settings.hpp"
#include "exchange/exchange.hpp"
#include "spec/recipe.hpp"
#include "spec/usual_choices.hpp"

namespace stagecraft {
namespace {

struct Line {
  Exported out;
  void flag(const char* name) { out.text += fmt::format(" \\\n  --{}", name); }
  void set(const char* name, std::int64_t value) { out.text += fmt::format(" \\\n  --{} {}", name, value); }
  void set(const char* name, const std::string& value) { out.text += fmt::format(" \\\n  --{} {}", name, value); }
  void leave(bool there, const char* what) {
    if (there) out.left_out.emplace_back(what);
  }
};

void add_attention(Line& line, const AttentionSpec& attention) {
  line.set("num-attention-heads", attention.heads);
  if (attention.latent.kv_rank > 0) {
    const LatentSpec& latent = attention.latent;
    line.flag("multi-latent-attention");
    if (latent.query_rank > 0) line.set("q-lora-rank", latent.query_rank);
    line.set("kv-lora-rank", latent.kv_rank);
    line.set("qk-head-dim", attention.head_dim);
    line.set("qk-pos-emb-head-dim", latent.rope_dim);
    line.set("v-head-dim", latent.value_dim);
    return;
  }
  line.set("kv-channels", attention.head_dim);
  if (attention.kv_heads != attention.heads) {
    line.flag("group-query-attention");
    line.set("num-query-groups", attention.kv_heads);
  }
  if (attention.qk_norm) line.flag("qk-layernorm");
  line.leave(attention.window > 0, "model.attention.window");
}

void add_experts(Line& line, const MoeSpec& moe, const RunSpec& run, std::int64_t blocks) {
  if (moe.experts == 0) return;
  line.set("num-experts", moe.experts);
  line.set("moe-router-topk", moe.top_k);
  line.set("moe-ffn-hidden-size", moe.ffn_hidden);
  if (moe.shared_ffn_hidden > 0) line.set("moe-shared-expert-intermediate-size", moe.shared_ffn_hidden);
  if (moe.capacity_factor > 0) {
    line.set("moe-expert-capacity-factor", fmt::format("{}", moe.capacity_factor));
    line.flag("moe-pad-expert-input-to-capacity");
  }
  if (moe.dense_blocks > 0) {
    line.set("moe-layer-freq", fmt::format("\"([0]*{}+[1]*{})\"", moe.dense_blocks, blocks - moe.dense_blocks));
  } else if (moe.every > 1) {
    line.set("moe-layer-freq", moe.every);
  }
  line.flag("moe-grouped-gemm");
  const bool flex = run.experts.dispatcher == Dispatcher::deduplicated;
  line.set("moe-token-dispatcher-type", flex ? std::string("flex") : std::string("alltoall"));
  if (flex) line.flag("moe-enable-deepep");
  line.set("expert-model-parallel-size", run.parallel.expert);
  if (run.parallel.expert_tensor > 0) line.set("expert-tensor-parallel-size", run.parallel.expert_tensor);
  if (run.experts.router_padding) line.flag("moe-router-padding-for-quantization");
  if (run.overlap.expert) line.flag("overlap-moe-expert-parallel-comm");
  if (run.overlap.delay_weight_grad) line.flag("delay-wgrad-compute");
}

/// YaRN has no word on the command line.
std::string word_of(Positions positions) {
  switch (positions) {
    case Positions::rotary:
    case Positions::yarn:
      return "rope";
    case Positions::relative:
      return "relative";
    case Positions::none:
      return "none";
    case Positions::learned:
      break;
  }
  return "learned_absolute";
}

void add_model(Line& line, const ModelSpec& model, const RunSpec& run) {
  line.set("num-layers", model.blocks);
  line.set("hidden-size", model.hidden);
  line.set("ffn-hidden-size", model.mlp.ffn_hidden);
  add_attention(line, model.attention);
  line.set("seq-length", run.sequence_length);
  line.set("max-position-embeddings", std::max(model.sequence_length, run.sequence_length));
  line.set("vocab-size", model.vocabulary);
  line.set("normalization", std::string(model.norm == Norm::rms_norm ? "RMSNorm" : "LayerNorm"));
  line.set("position-embedding-type", word_of(model.positions));
  if (model.attention.relative_buckets > 0)
    line.set("relative-attention-num-buckets", model.attention.relative_buckets);
  line.leave(model.positions == Positions::yarn, "model.positions");
  if (model.mlp.gated) line.flag("swiglu");
  if (!model.mlp.gated && model.mlp.activation == Activation::relu) line.flag("squared-relu");
  if (model.mlp.clamp > 0) line.set("activation-func-clamp-value", fmt::format("{}", model.mlp.clamp));
  if (!model.mlp.bias) line.flag("disable-bias-linear");
  if (model.attention.bias && !model.mlp.bias) line.flag("add-qkv-bias");
  if (!model.tied_embeddings) line.flag("untie-embeddings-and-output-weights");
  line.set("hidden-dropout", fmt::format("{}", model.dropout));
  line.set("attention-dropout", fmt::format("{}", model.dropout));
  add_experts(line, model.moe, run, model.blocks);
  if (model.prediction_modules > 0) line.set("mtp-num-layers", model.prediction_modules);
  line.leave(model.encoder_blocks > 0, "model.encoder_blocks");
  line.leave(model.post_norms, "model.post_norms");
  line.leave(model.embedding.patch_inputs > 0 || model.embedding.token_types > 0, "model.embedding");
  line.leave(!model.attention.causal, "model.attention.causal");
  line.leave(model.head.first_token || model.head.transform || !model.head.norm || !model.head.projection,
             "model.head");
}

void add_context(Line& line, const ParallelSpec& parallel) {
  line.set("context-parallel-size", parallel.context);
  if (parallel.context == 1) return;
  line.leave(!parallel.zig_zag, "parallel.zig_zag");
  switch (parallel.context_method) {
    case ContextMethod::ring:
      return line.set("cp-comm-type", std::string("p2p"));
    case ContextMethod::ulysses:
      return line.set("cp-comm-type", std::string("a2a"));
    case ContextMethod::all_gather:
      return line.set("cp-comm-type", std::string("all_gather"));
    case ContextMethod::combined:
      break;
  }
  line.set("cp-comm-type", std::string("a2a+p2p"));
  line.set("hierarchical-context-parallel-sizes",
           fmt::format("{} {}", parallel.ulysses, parallel.context / std::max<std::int64_t>(1, parallel.ulysses)));
}

void add_recompute_modules(Line& line, const RunSpec& run, const ModelSpec& model) {
  line.set("recompute-granularity", std::string("selective"));
  const RecomputeModules& modules = run.recompute_modules;
  std::string words;
  const auto add = [&](bool there, const char* word) {
    if (there) words += (words.empty() ? "" : " ") + std::string(word);
  };
  // Megatron-LM has two words for what is one module here: dense MLPs, and activations between experts' products.
  const bool experts = model.moe.experts > 0;
  add(modules.core_attention, "core_attn");
  add(modules.norms, "layernorm");
  add(modules.activation && experts, "moe_act");
  add(modules.mlp, experts ? "mlp moe" : "mlp");
  add(modules.latent_up_projection, "mla_up_proj");
  if (words != "core_attn" && !words.empty()) line.set("recompute-modules", words);
  line.leave(modules.activation && !experts, "recompute_modules: activation");
}

void add_recompute(Line& line, const RunSpec& run, const ModelSpec& model) {
  if (run.recompute == Recompute::selective) add_recompute_modules(line, run, model);
  line.leave(run.recompute == Recompute::per_op, "recompute per_op");
  if (run.recompute != Recompute::full) return;
  line.set("recompute-granularity", std::string("full"));
  const bool first = run.recompute_scope == RecomputeScope::first_blocks;
  line.set("recompute-method", std::string(first ? "block" : "uniform"));
  const bool counted = first || run.recompute_scope == RecomputeScope::groups;
  line.set("recompute-num-layers", counted ? run.recompute_blocks : 1);
  line.leave(run.recompute_scope == RecomputeScope::every_kth || run.recompute_scope == RecomputeScope::square_root,
             "recompute_scope");
}

// Megatron-LM moves activations of a model without a pipeline only.
void add_offload(Line& line, const RunSpec& run, const ModelSpec& model) {
  const OffloadSpec& offload = run.offload;
  if (offload.activations == Home::gpu) return;
  if (run.parallel.pipeline > 1 || offload.activations == Home::nvme) return line.leave(true, "offload.activations");
  line.set("cpu-offloading-num-layers", offload.activation_blocks == 0 ? model.blocks : offload.activation_blocks);
}

std::string letters(const char* letter, std::int64_t count) {
  if (count < 1) return "";
  return count == 1 ? letter : fmt::format("{}*{}", letter, count);
}

// Layers per stage in Megatron-LM's letters (core/transformer/pipeline_parallel_layer_layout.py): embedding,
// transformer blocks, modules of multi-token prediction, loss. It says how many virtual stages there are, too. The list
// counts the modules as blocks, behind all others.
void add_layout(Line& line, const std::vector<std::int64_t>& blocks, std::int64_t predictions) {
  std::int64_t left = std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0}) - predictions;
  std::string layout = "E";
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const std::int64_t plain = std::min(blocks[stage], left);
    left -= plain;
    layout += (stage > 0 ? "|" : "") + letters("t", plain) + letters("m", blocks[stage] - plain);
  }
  line.set("pipeline-model-parallel-layout", fmt::format("\"{}L\"", layout));
}

// What a run asks of kernels, states and buffers: Megatron-LM has a word for some of it.
void add_kernels(Line& line, const RunSpec& run, const GpuSpec& gpu) {
  const RunSpec usual;
  const bool of_engine = run.framework == Framework::transformer_engine;
  line.set("transformer-impl", std::string(of_engine ? "transformer_engine" : "local"));
  line.leave(!of_engine && run.framework != Framework::megatron, "framework");
  const bool is_usual = run.attention_kernel == usual_attention_kernel(gpu, run.precision);
  if (run.attention_kernel == AttentionKernel::unfused) {
    line.set("attention-backend", std::string("unfused"));
  } else if (run.attention_kernel == AttentionKernel::fused_softmax) {
    line.set("attention-backend", std::string("local"));
  } else {
    line.leave(!is_usual, "attention_kernel");
  }
  if (run.loss_kernel == LossKernel::fused) line.flag("cross-entropy-loss-fusion");
  line.leave(run.loss_kernel == LossKernel::full_fp32 || run.loss_kernel == LossKernel::chunked, "loss_kernel");
  if (run.optimizer == Optimizer::sgd) line.set("optimizer", std::string("sgd"));
  line.leave(run.optimizer != Optimizer::sgd && run.optimizer != Optimizer::adam, "optimizer");
  const bool wide = run.precision == Precision::bf16_mixed || run.precision == Precision::fp8_mixed;
  if (wide && bytes_of(recipe_of(run)).gradient < 4) line.flag("grad-reduce-in-bf16");
  const bool pure = recipe_of(run) == StateRecipe::pure_bf16 || recipe_of(run) == StateRecipe::pure_bf16_fp32_gradients;
  line.leave(pure && run.precision != Precision::bf16_pure, "recipe");
  if (run.gradient_bucket_bytes != usual.gradient_bucket_bytes) {
    line.set("ddp-bucket-size", std::llround(run.gradient_bucket_bytes / bytes_of(recipe_of(run)).gradient));
  }
}

void add_sharding(Line& line, const RunSpec& run) {
  if (run.zero_stage >= 1) line.flag("use-distributed-optimizer");
  if (run.zero_stage < 2) return;
  if (run.parallel.pipeline > 1) return line.leave(true, "zero_stage 2 and 3");
  line.flag("use-megatron-fsdp");
  line.set("data-parallel-sharding-strategy", std::string(run.zero_stage == 2 ? "optim_grads" : "optim_grads_params"));
}

void add_overlap(Line& line, const RunSpec& run) {
  if (run.overlap.gradient_reduce) line.flag("overlap-grad-reduce");
  if (run.overlap.parameter_gather) line.flag("overlap-param-gather");
  if (run.overlap.tensor) line.flag("tp-comm-overlap");
  if (!run.overlap.pipeline && run.parallel.pipeline > 1) line.flag("no-overlap-p2p-communication");
}

void add_run(Line& line, const RunSpec& run, const ModelSpec& model, const GpuSpec& gpu) {
  const ParallelSpec& parallel = run.parallel;
  line.set("tensor-model-parallel-size", parallel.tensor);
  line.set("pipeline-model-parallel-size", parallel.pipeline);
  if (run.partition.rule == PartitionRule::explicit_list) {
    add_layout(line, run.partition.blocks_per_stage, model.prediction_modules);
  } else if (parallel.virtual_stages > 1) {
    line.set("num-virtual-stages-per-pipeline-rank", parallel.virtual_stages);
  }
  add_context(line, parallel);
  if (parallel.sequence_parallel) line.flag("sequence-parallel");
  const std::string placement = to_text(parallel.placement);
  if (placement == "tensor-context-pipeline-data") {
    line.flag("use-tp-pp-dp-mapping");
  } else {
    line.leave(placement != to_text(PlacementSpec{}), "parallel.placement");
  }
  if (run.cuda_graphs) line.flag("enable-cuda-graph");
  line.leave(run.host.collection_pause_s > 0 && !run.host.collects_together, "host.garbage_collection");
  if (run.host.collection_pause_s > 0 && run.host.collects_together) {
    line.flag("manual-gc");
    line.set("manual-gc-interval", static_cast<std::int64_t>(std::max(1.0, std::round(run.host.collection_every))));
  }
  line.set("micro-batch-size", run.batch.micro);
  line.set("global-batch-size", run.batch.global);
  if (const std::optional<RampUpSpec>& ramp = run.batch.ramp_up) {
    line.set("rampup-batch-size", fmt::format("{} {} {}", ramp->start, ramp->increment, ramp->samples));
  }
  switch (run.precision) {
    case Precision::fp8_mixed:
      line.flag("bf16");
      line.set("fp8-format", std::string("hybrid"));
      line.set("fp8-recipe", std::string(run.fp8_scaling == Fp8Scaling::per_block ? "blockwise"
                                         : run.fp8_scaling == Fp8Scaling::current ? "tensorwise"
                                                                                  : "delayed"));
      line.leave(run.fp8_scaling == Fp8Scaling::per_row, "fp8_scaling per_row");
      break;
    case Precision::bf16_mixed:
    case Precision::bf16_pure:
      line.flag("bf16");
      line.leave(run.precision == Precision::bf16_pure, "precision bf16_pure");
      break;
    case Precision::fp16_mixed:
      line.flag("fp16");
      if (run.fp32_gradients) line.flag("accumulate-allreduce-grads-in-fp32");
      break;
    case Precision::fp32:
    case Precision::tf32:
      line.leave(run.precision == Precision::tf32, "precision tf32");
      break;
  }
  add_recompute(line, run, model);
  add_sharding(line, run);
  add_overlap(line, run);
  add_kernels(line, run, gpu);
  if (!run.gradient_accumulation_fusion) line.flag("no-gradient-accumulation-fusion");
  const bool usual = run.schedule.name == "1f1b" || run.schedule.name == "interleaved-1f1b";
  line.leave(!usual, "schedule (Megatron-LM runs 1F1B and interleaved 1F1B)");
  const bool cut = run.partition.rule == PartitionRule::uniform || run.partition.rule == PartitionRule::explicit_list;
  line.leave(!cut, "parallel.partition");
  add_offload(line, run, model);
}

/// What is written above, or left with a word of its own.
constexpr std::array<std::string_view, 21> written_settings{"parallel.placement",
                                                            "schedule",
                                                            "batch.ramp_up",
                                                            "experts.dispatcher",
                                                            "experts.router_padding",
                                                            "offload.activations",
                                                            "overlap.gradient_reduce",
                                                            "overlap.parameter_gather",
                                                            "overlap.pipeline",
                                                            "overlap.tensor",
                                                            "overlap.expert",
                                                            "overlap.delay_weight_grad",
                                                            "host.garbage_collection",
                                                            "recipe",
                                                            "attention_kernel",
                                                            "optimizer",
                                                            "loss_kernel",
                                                            "fp8_scaling",
                                                            "gradient_accumulation_fusion",
                                                            "cuda_graphs",
                                                            "gradient_bucket"};

}  // namespace

Exported export_megatron(const Scenario& scenario) {
  Line line;
  const ParallelSpec& parallel = scenario.run.parallel;
  const std::int64_t world = parallel.tensor * parallel.pipeline * parallel.context * parallel.data;
  const std::int64_t per_node = std::min<std::int64_t>(world, 8);
  line.out.text = fmt::format("torchrun --nproc-per-node {} --nnodes {} pretrain_gpt.py", per_node,
                              (world + per_node - 1) / per_node);
  add_model(line, scenario.model, scenario.run);
  add_run(line, scenario.run, scenario.model, scenario.cluster.gpu);
  leave_unwritten(scenario, written_settings, line.out.left_out);
  line.out.text += "\n";
  return line.out;
}

}  // namespace stagecraft
