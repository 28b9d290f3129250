#include "spec/usual_choices.hpp"

namespace stagecraft {
namespace {

bool has_replicas(const ParallelSpec& parallel) {
  return parallel.data * parallel.context > 1;
}

}  // namespace

ShardUnit usual_shard_unit(const ModelSpec& model, const ParallelSpec& parallel) {
  const bool one_stage = parallel.pipeline * parallel.virtual_stages == 1;
  return one_stage && model.plain_layers.empty() ? ShardUnit::block : ShardUnit::stage;
}

bool usually_overlaps_reduce(Framework framework, const ParallelSpec& parallel) {
  return has_replicas(parallel) && (framework == Framework::fsdp || framework == Framework::torch_ddp);
}

bool usually_overlaps_gather(Framework framework, const ParallelSpec& parallel, std::int64_t zero_stage) {
  return has_replicas(parallel) && framework == Framework::fsdp && zero_stage > 0;
}

AttentionKernel usual_attention_kernel(const GpuSpec& gpu, Precision precision) {
  const bool wide = precision == Precision::fp32 || precision == Precision::tf32;
  if (gpu.architecture == "cpu" || wide) return AttentionKernel::unfused;
  if (gpu.architecture == "volta" || gpu.architecture == "turing") return AttentionKernel::fused_softmax;
  if (gpu.architecture == "blackwell") return AttentionKernel::flash_4;
  return gpu.architecture == "hopper" ? AttentionKernel::flash_3 : AttentionKernel::flash_2;
}

double usual_slowdown(const RunSpec& run, const GpuSpec& gpu) {
  const double held = run.experts.dispatcher == Dispatcher::deduplicated ? 16 : 24;
  const auto all = static_cast<double>(gpu.sms);
  const bool beside = run.overlap.expert && run.parallel.expert > 1;
  return beside && all > held ? held / (all - held) : 0;
}

void choose_by_layout(const ModelSpec& model, const GpuSpec& gpu, RunSpec& run) {
  const LeftToLayout& left = run.left_to_layout;
  if (left.shard_unit) run.sharding.unit = usual_shard_unit(model, run.parallel);
  if (left.gradient_reduce) run.overlap.gradient_reduce = usually_overlaps_reduce(run.framework, run.parallel);
  if (left.parameter_gather) {
    run.overlap.parameter_gather = usually_overlaps_gather(run.framework, run.parallel, run.zero_stage);
  }
  if (left.slowdown) run.overlap.slowdown = usual_slowdown(run, gpu);
}

}  // namespace stagecraft
