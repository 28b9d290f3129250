#include "memory/overhead.hpp"

#include "memory/framework.hpp"
#include "memory/local_shape.hpp"
#include "memory/padding.hpp"
#include "memory/weight_gradients.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {
namespace {

constexpr double MiB = 1024.0 * 1024.0;

/// Communicators that a rank opens: one per parallel axis with more than one rank, and the embedding group.
double communicators(const Plan& plan) {
  const Degrees& degrees = plan.degrees;
  double count = 0;
  if (degrees.tensor > 1) ++count;
  if (degrees.data * degrees.context > 1) ++count;
  if (degrees.context > 1) ++count;
  if (degrees.pipeline > 1) ++count;
  if (degrees.pipeline > 1 && plan.model.plain_layers.empty() && plan.model.tied_embeddings) ++count;
  return count;
}

FixedLine context_line(const GpuSpec& gpu) {
  // Before CUDA 11.7 all kernels of all libraries were loaded; V100 runs date from then.
  if (gpu.architecture == "volta") {
    return {"CUDA context", MemoryClass::overhead, {1000e6}, false, "pytorch/pytorch#107667: over 1000 MB"};
  }
  return {"CUDA context",
          MemoryClass::overhead,
          {300e6},
          false,
          "pytorch/pytorch#107667: about 300 MB with kernels loaded on first use"};
}

bool has_large_workspace(const GpuSpec& gpu) {
  return gpu.architecture == "hopper" || gpu.architecture == "blackwell";
}

FixedLine transformer_engine_line(const GpuSpec& gpu) {
  return {"TransformerEngine workspace",
          MemoryClass::overhead,
          {has_large_workspace(gpu) ? 32 * MiB : 4 * MiB},
          true,
          "TransformerEngine, pytorch/module/base.py: 32 MiB from Hopper on, else 4"};
}

/// One for each thread that calls cuBLAS: the forward pass and autograd.
FixedLine cublas_line(const GpuSpec& gpu) {
  const bool large = has_large_workspace(gpu);
  return {
      "cuBLAS workspace",
      MemoryClass::overhead,
      {2 * (large ? 32 * MiB : 8 * MiB + 128 * 1024)},
      true,
      "PyTorch, aten/src/ATen/cuda/CublasHandlePool.cpp: 32 MiB from Hopper on, else :4096:2:16:8; one for each of the "
      "threads of forward pass and autograd"};
}

FixedLine nccl_line(double communicator_count) {
  constexpr double channels = 16, receive = 10 * MiB, send = 2 * MiB;
  return {"NCCL channel buffers",
          MemoryClass::overhead,
          {communicator_count * channels * (receive + send)},
          false,
          "NVIDIA/nccl#1685: 10 MiB to receive and 2 MiB to send per channel and neighbour; 16 ring channels each"};
}

}  // namespace

std::vector<FixedLine> fixed_lines(const Plan& plan) {
  std::vector<FixedLine> lines;
  if (plan.gpu.architecture != "cpu") {
    lines.push_back(context_line(plan.gpu));
    lines.push_back(cublas_line(plan.gpu));
    if (plan.run.framework == Framework::transformer_engine) lines.push_back(transformer_engine_line(plan.gpu));
    const double count = communicators(plan);
    if (count > 0) lines.push_back(nccl_line(count));
  }
  if (!plan.model.plain_layers.empty()) return lines;
  const double bucket = habits_of(plan.run).reduce_elements;
  if (bucket > 0 && plan.run.zero_stage > 0 && plan.degrees.data * plan.degrees.context > 1) {
    lines.push_back({"reduction buckets",
                     MemoryClass::communication,
                     {2 * bucket * bytes_of(recipe_of(plan.run)).gradient},
                     true,
                     "DeepSpeed, runtime/zero/stage_1_and_2.py: two buckets of reduce_bucket_size"});
  }
  if (const Bytes padding = padding_of_shards(plan); padding.value > 0) {
    lines.push_back(
        {"padding of shards", MemoryClass::overhead, padding, true,
         "FSDP rounds the rows of every tensor up to its ranks; Megatron-LM and DeepSpeed their flat buffers"});
  }
  const LocalShape shape = local_shape(plan);
  if (shape.sequence_parallel) {
    lines.push_back({"gathered input of a column-parallel layer", MemoryClass::communication,
                     bytes_on_rank(shape, shape.tokens * shape.hidden, shape.activation, Shard::whole), true,
                     "Megatron-LM, core/tensor_parallel/layers.py: the global memory buffer"});
  }
  const Bytes cached =
      weight_gradients(shape, parameter_tensors(plan, {LayerKind::block, 0}), habits_of(plan.run).weight_gradient)
          .cached;
  if (cached.value > 0) {
    lines.push_back({"unused weight gradients kept for autograd", MemoryClass::gradients, cached, true,
                     "TransformerEngine, pytorch/module/base.py: get_dummy_wgrad"});
  }
  return lines;
}

MemoryByClass fixed_memory(const Plan& plan) {
  MemoryByClass sum{};
  for (const FixedLine& line : fixed_lines(plan)) at(sum, line.memory_class) += line.bytes;
  return sum;
}

Bytes memory_limit(const GpuSpec& gpu) {
  return gpu.memory_usable.value > 0 ? gpu.memory_usable : gpu.memory;
}

}  // namespace stagecraft
