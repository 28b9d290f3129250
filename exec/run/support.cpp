#include "exec/run/support.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/model/layer.hpp"
#include "exec/model/stage_model.hpp"

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

void check_precision(const Plan& plan, const ExecuteOptions& options, Findings& findings) {
  const bool cpu = options.device.is_cpu();
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
  const AttentionKernel kernel = plan.run.attention_kernel;
  if (plan.model.plain_layers.empty() && (kernel == AttentionKernel::flash_1 || kernel == AttentionKernel::flash_3)) {
    refuse(findings, "execute-attention", "/attention_kernel", fmt::format("PyTorch has no {} kernel", to_text(kernel)),
           "flash_2");
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

Findings refusals(const Plan& plan, const Schedule& compute, const ExecuteOptions& options) {
  Findings findings;
  check_schedule_kind(compute, findings);
  check_precision(plan, options, findings);
  check_model(plan, findings);
  check_plain(plan, findings);
  check_layout(plan, compute, findings);
  return findings;
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
      {"attention flash_1, flash_3", "refused: PyTorch has no such kernel"},
      {"recompute none, selective, full", "runs"},
      {"dropout", "refused: masks would differ from layout to layout"},
      {"plain lists of linear layers with ReLU", "runs"},
      {"plain layers of unknown computation, or over a tensor group",
       "refused: their figures do not say what to compute"},
      {"offload", "refused: all states stay on the device"},
  };
}

BufferPolicy buffer_policy(const Plan& plan, const ExecuteOptions& options) {
  BufferPolicy policy;
  policy.zero_stage = plan.run.zero_stage;
  policy.device = options.device;
  policy.seed = options.seed;
  switch (plan.run.precision) {
    case Precision::fp32:
    case Precision::tf32:
      break;
    case Precision::fp16_mixed:
      policy.value = at::kHalf;
      policy.master_copy = true;
      break;
    case Precision::bf16_mixed:
    case Precision::fp8_mixed:
      policy.value = at::kBFloat16;
      policy.master_copy = true;
      break;
    case Precision::bf16_pure:
      policy.value = policy.gradient = policy.state = at::kBFloat16;
      break;
  }
  if (options.numbers) {
    policy.value = policy.gradient = policy.state = *options.numbers;
    policy.master_copy = false;
  }
  const auto gradient_bytes = static_cast<double>(c10::elementSize(policy.gradient));
  policy.bucket_elements =
      std::max<std::int64_t>(static_cast<std::int64_t>(plan.run.gradient_bucket_bytes / gradient_bytes), 1);
  return policy;
}

}  // namespace stagecraft
