#include "schedule/executable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedule/core_attention.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {

namespace {

void refuse(Findings& findings, const char* code, const char* pointer, std::string message, std::string nearest = "") {
  findings.push_back({Severity::error, code, pointer, std::move(message), std::move(nearest)});
}

void check_schedule_kind(const Schedule& schedule, Findings& findings) {
  if (schedule.asynchronous || schedule.weights != WeightPolicy::one) {
    refuse(findings, "execute-asynchronous", "/schedule/name",
           fmt::format("schedule {} updates weights without a flush; the executor keeps one version of them",
                       schedule.name),
           "1f1b");
  }
  if (schedule.placement.size() > 1) {
    refuse(findings, "execute-replicas", "/schedule/name",
           fmt::format("schedule {} holds every stage twice; the executor keeps one copy of a stage", schedule.name),
           "zbv");
  }
  if (schedule.optimizer_sync == OptimizerSync::post_validation) {
    refuse(findings, "execute-post-validation", "/schedule/name",
           "the optimizer step before the global norm is known, with a rollback, is simulated only");
  }
}

void check_precision(const Plan& plan, bool cpu, Findings& findings) {
  if (plan.run.precision == Precision::fp8_mixed) {
    refuse(findings, "execute-fp8", "/precision", "no fp8 matrix products", "bf16_mixed");
  }
  if (plan.run.precision == Precision::tf32 && cpu) {
    refuse(findings, "execute-tf32", "/precision", "tf32 exists on GPUs only", "fp32");
  }
}

void check_model(const Plan& plan, Findings& findings) {
  if (plan.model.dropout > 0) {
    refuse(findings, "execute-dropout", "/model/dropout",
           fmt::format("dropout {} is not drawn: its masks would differ from layout to layout", plan.model.dropout),
           "0");
  }
  if (plan.degrees.context > 1) {
    refuse(findings, "execute-context", "/parallel/context", "attention over a context group is simulated only", "1");
  }
  const ModelSpec& model = plan.model;
  struct Part {
    bool there;
    const char* pointer;
    const char* what;
  };
  for (const Part& part : {Part{model.attention.latent.kv_rank > 0, "/model/attention/latent", "latent attention"},
                           Part{model.attention.window > 0, "/model/attention/window", "a sliding window"},
                           Part{model.attention.qk_norm, "/model/attention/qk_norm", "norms of heads"},
                           Part{model.attention.bias && !model.attention.output_bias, "/model/attention/output_bias",
                                "biases of some projections only"},
                           Part{model.positions == Positions::relative, "/model/positions", "relative positions"},
                           Part{model.positions == Positions::yarn, "/model/positions", "positions stretched by YaRN"},
                           Part{model.encoder_blocks > 0, "/model/encoder_blocks", "an encoder beside a decoder"},
                           Part{model.prediction_modules > 0, "/model/prediction_modules", "multi-token prediction"},
                           Part{model.mlp.clamp > 0, "/model/mlp/clamp", "a clamp before the activation"},
                           Part{model.post_norms, "/model/post_norms", "norms behind attention and MLP"},
                           Part{model.embedding.patch_inputs > 0 || model.embedding.extra_tokens > 0 ||
                                    model.embedding.token_types > 0 || model.embedding.norm,
                                "/model/embedding", "an embedding other than tokens and positions"},
                           Part{!model.head.norm || !model.head.projection || model.head.bias || model.head.transform ||
                                    model.head.pooler || model.head.first_token,
                                "/model/head", "a head other than a norm and a projection"},
                           Part{!plan.run.batch.lengths.empty(), "/batch/lengths", "packed documents"}}) {
    if (part.there) refuse(findings, "execute-model", part.pointer, fmt::format("{}: simulated only", part.what));
  }
  const AttentionKernel kernel = plan.run.attention_kernel;
  const std::int32_t version = flash_version(kernel);
  if (plan.model.plain_layers.empty() && version != 0 && version != 2) {
    refuse(findings, "execute-attention", "/attention_kernel", fmt::format("PyTorch has no {} kernel", to_text(kernel)),
           "flash_2");
  }
}

void check_states(const Plan& plan, Findings& findings) {
  const RunSpec& run = plan.run;
  const RecipeBytes& recipe = bytes_of(recipe_of(run));
  if (recipe.compute != recipe.weight && run.precision != Precision::fp8_mixed) {
    refuse(findings, "execute-recipe", "/recipe",
           fmt::format("recipe {} casts weights in every pass; the executor keeps them as they are used",
                       to_text(recipe.recipe)));
  }
  if (run.optimizer != Optimizer::adam) {
    refuse(findings, "execute-optimizer", "/optimizer", fmt::format("no {} here", to_text(run.optimizer)), "adam");
  }
  if (run.zero_stage >= 2 && run.sharding.unit == ShardUnit::block) {
    refuse(findings, "execute-shard-unit", "/sharding/unit",
           "gathering and reducing block by block inside a pass is simulated only", "stage");
  }
  if (run.sharding.group != 0) {
    refuse(findings, "execute-shard-group", "/sharding/group", "hybrid sharding is simulated only", "0");
  }
  if (run.gradient_compression != GradientCompression::none) {
    refuse(findings, "execute-compression", "/gradient_compression", "gradients are reduced as they are", "none");
  }
  if (!run.sharding.reduce_scatter) {
    refuse(findings, "execute-all-reduce", "/sharding/reduce_scatter",
           "sharded gradients are reduced by reduce-scatter", "true");
  }
  if (run.host.attention_waits || run.host.collection_pause_s > 0) {
    refuse(findings, "execute-host", "/host", "the executor reads no lengths back and collects no garbage");
  }
  if (run.data_loading_s > 0) {
    refuse(findings, "execute-data-loading", "/data_loading", "batches are drawn in memory and never waited for",
           "0 s");
  }
  if (run.cuda_graphs) {
    refuse(findings, "execute-cuda-graphs", "/cuda_graphs", "every kernel is launched by itself", "false");
  }
  const OffloadSpec& offload = run.offload;
  if (offload.optimizer != Home::gpu || offload.parameters != Home::gpu || offload.activations != Home::gpu) {
    refuse(findings, "execute-offload", "/offload", "all states stay on the device");
  }
}

void check_memory_savings(const Plan& plan, Findings& findings) {
  const RunSpec& run = plan.run;
  const RecomputeModules& modules = run.recompute_modules;
  const bool whole_blocks = run.recompute == Recompute::full && run.recompute_scope != RecomputeScope::every_block;
  const bool other_modules =
      run.recompute == Recompute::selective &&
      (!modules.core_attention || modules.norms || modules.activation || modules.mlp || modules.latent_up_projection);
  if (run.recompute == Recompute::per_op || whole_blocks || other_modules) {
    refuse(findings, "execute-recompute", "/recompute",
           "recomputed is all of every block, or core attention alone; other choices are simulated only", "full");
  }
  if (run.loss_kernel != LossKernel::vocabulary_parallel && plan.model.plain_layers.empty()) {
    refuse(findings, "execute-loss-kernel", "/loss_kernel",
           fmt::format("no {} loss kernel here", to_text(run.loss_kernel)), "vocabulary_parallel");
  }
  if (plan.model.moe.experts > 0) {
    refuse(findings, "execute-experts", "/model/moe", "blocks of experts are simulated only");
  }
}

void check_plain(const Plan& plan, Findings& findings) {
  if (plan.model.plain_layers.empty()) return;
  if (plan.degrees.tensor > 1) {
    refuse(findings, "execute-plain-tensor", "/parallel/tensor", "plain layers are not cut over a tensor group", "1");
  }
  const double bytes = plan.run.precision == Precision::fp32 || plan.run.precision == Precision::tf32 ? 4 : 2;
  std::int64_t previous = 0;
  for (const PlainLayerSpec& layer : plan.model.plain_layers) {
    const PlainWidths widths = plain_widths(layer, bytes);
    if (!widths.problem.empty()) {
      refuse(findings, "execute-plain-layer", "/model/plain_layers", widths.problem,
             "parameters = out * (in + 1), forward FLOPs = 2 in out, output = out numbers");
    } else if (previous != 0 && widths.in != previous) {
      refuse(findings, "execute-plain-width", "/model/plain_layers",
             fmt::format("layer \"{}\" takes {} numbers, the one before gives {}", layer.name, widths.in, previous));
    }
    previous = widths.out;
  }
}

void check_layout(const Plan& plan, const Schedule& schedule, Findings& findings) {
  const std::int64_t rows = plan.run.batch.micro * plan.run.sequence_length;
  const bool split = plan.degrees.tensor > 1 && (plan.run.parallel.sequence_parallel || plan.run.scatter_gather);
  if (plan.model.plain_layers.empty() && split && rows % plan.degrees.tensor != 0) {
    refuse(findings, "execute-rows", "/parallel/tensor",
           fmt::format("{} tokens of a micro-batch are not divisible by tensor degree {}", rows, plan.degrees.tensor));
  }
  if (plan.run.overlap.tensor) {
    refuse(findings, "execute-overlap-tensor", "/overlap/tensor",
           "tensor-parallel collectives are waited for where they stand, not hidden behind GEMMs", "false");
  }
  const bool folded = !schedule.placement.empty() && schedule.placement[0].size() > 1 &&
                      schedule.placement[0].front() == schedule.placement[0].back();
  if (plan.run.zero_stage == 3 && plan.model.tied_embeddings && plan.model.plain_layers.empty() && folded) {
    refuse(findings, "execute-tied-zero3", "/zero_stage",
           "ZeRO 3 drops a stage's weights while another stage of the rank uses its tied embedding", "2");
  }
  if (plan.run.zero_stage < 0 || plan.run.zero_stage > 3) {
    refuse(findings, "execute-zero", "/zero_stage", fmt::format("ZeRO stage {}", plan.run.zero_stage), "3");
  }
}

}  // namespace

Findings execution_refusals(const Plan& plan, const Schedule& schedule, bool cpu) {
  Findings findings;
  check_schedule_kind(schedule, findings);
  check_precision(plan, cpu, findings);
  check_model(plan, findings);
  check_states(plan, findings);
  check_memory_savings(plan, findings);
  check_plain(plan, findings);
  check_layout(plan, schedule, findings);
  return findings;
}

PlainWidths plain_widths(const PlainLayerSpec& layer, double bytes_per_number) {
  const double out = layer.output_per_sample.value / bytes_per_number;
  const double in = layer.parameters / out - 1;
  const bool whole = out >= 1 && in >= 1 && std::floor(out) == out && std::floor(in) == in && in < 1e9 && out < 1e9;
  if (!whole || layer.forward_flops_per_sample.value != 2 * in * out) {
    return {0, 0, "layer \"" + layer.name + "\" has not the figures of a linear layer with bias"};
  }
  return {static_cast<std::int64_t>(in), static_cast<std::int64_t>(out), ""};
}

std::vector<SupportLine> support_matrix() {
  return {
      {"synchronous schedules with one replica of each stage, also from CSV", "runs"},
      {"backward split in input and weight gradients, full backward, overlapped pairs (in turn)", "runs"},
      {"asynchronous schedules (pipedream, pipedream-2bw)", "refused: one version of the weights is kept"},
      {"two-replica schedules (dualpipe, chimera)", "refused: one copy of a stage is kept"},
      {"optimizer post-validation", "refused: no rollback of an update"},
      {"tensor parallelism, sequence parallelism, grouped-query attention", "runs"},
      {"tensor-parallel collectives hidden behind GEMMs", "refused: they are waited for"},
      {"context parallelism", "refused: attention is local to a rank"},
      {"data parallelism, ZeRO 1, 2, 3", "runs"},
      {"ZeRO 3 with tied embeddings in two stages of one rank", "refused: one drops what the other uses"},
      {"fp32, bf16_mixed, bf16_pure, fp16_mixed with dynamic loss scale", "runs"},
      {"tf32", "runs on a GPU, refused on CPU"},
      {"fp8_mixed", "refused: no fp8 matrix products"},
      {"attention unfused, fused_softmax, flash_2", "runs"},
      {"attention flash_1, flash_3, flash_4", "refused: PyTorch has no such kernel"},
      {"recompute none, selective (core attention), full (every block)", "runs"},
      {"recompute of other modules, of some blocks, or by operation", "refused: simulated only"},
      {"recipes of states whose weights are stored as they are used", "runs"},
      {"fp32_autocast, and optimizers other than adam", "refused: simulated only"},
      {"sharding by block, hybrid sharding", "refused: simulated only"},
      {"fused, full_fp32 and chunked loss kernels", "refused: simulated only"},
      {"blocks of experts", "refused: simulated only"},
      {"dropout", "refused: masks would differ from layout to layout"},
      {"plain lists of linear layers with ReLU", "runs"},
      {"plain layers of unknown computation, or over a tensor group",
       "refused: their figures do not say what to compute"},
      {"offload", "refused: all states stay on the device"},
      {"gradients reduced in another format, or all-reduced under ZeRO 1", "refused: simulated only"},
      {"CUDA graphs, waiting for data, waits of the host and garbage collection", "refused: simulated only"},
  };
}

}  // namespace stagecraft
