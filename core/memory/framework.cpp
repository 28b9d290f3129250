#include "memory/framework.hpp"

#include <array>

namespace stagecraft {
namespace {

// Reserved over allocated, as the same runs print both. With PyTorch 2: 4.3 % in the 76 pairs of SimuMax
// (docs/b200/b200_release_v1.2_summary.json), 13.9 % in the 4 of sail-sg/VocabularyParallelism (artifact); their mean.
// With PyTorch 1.8: the 9 pairs in BigScience's logs (experiments/gpt2-meg/*.out).
constexpr double recent = 0.091, of_2021 = 0.206;

constexpr std::array<FrameworkHabits, 7> table = {{
    {Framework::megatron, WeightGradient::accumulated, 0, 0, recent, false,
     "Megatron-LM, core/distributed/param_and_grad_buffer.py: gradients live in contiguous buffers"},
    {Framework::transformer_engine, WeightGradient::cached, 0, 0, recent, false,
     "TransformerEngine, pytorch/module/base.py: get_dummy_wgrad"},
    {Framework::megatron_2021, WeightGradient::temporary, 1, 0, of_2021, false,
     "Megatron-LM v2, model/distributed.py: gradients are flattened into one array to be reduced; "
     "optimizer/optimizer.py: zero_grad leaves the fp32 gradients"},
    {Framework::torch_ddp, WeightGradient::temporary, 1, 0, recent, false,
     "PyTorch, torch/nn/parallel/distributed.py: gradient_as_bucket_view is off, buckets are copies"},
    {Framework::deepspeed, WeightGradient::temporary, 0, 5e8, of_2021, false,
     "DeepSpeed, docs: reduce_bucket_size 5e8 elements, two of them with overlap_comm"},
    {Framework::fsdp, WeightGradient::temporary, 0, 0, recent, false, "PyTorch, torch/distributed/fsdp"},
    {Framework::nanotron, WeightGradient::temporary, 1, 0, recent, true,
     "huggingface/nanotron, optim/gradient_accumulator.py: gradients add up in fp32, while the buckets of PyTorch's "
     "DistributedDataParallel hold 16-bit ones"},
}};

}  // namespace

FrameworkHabits habits_of(const RunSpec& run) {
  FrameworkHabits habits = table[static_cast<std::size_t>(run.framework)];
  if (!run.gradient_accumulation_fusion) habits.weight_gradient = WeightGradient::temporary;
  return habits;
}

}  // namespace stagecraft
