#pragma once
// How the training software handles memory where frameworks differ: one row per framework.

#include <cstdint>

#include "spec/run_spec.hpp"

namespace stagecraft {

/// Where the weight gradient of a matrix goes before the optimizer sees it.
enum class WeightGradient : std::uint8_t {
  accumulated,  // the GEMM adds into the main gradient (Megatron-LM, gradient_accumulation_fusion): nothing more exists
  temporary,    // a tensor in the compute dtype lives from the GEMM to its addition
  cached,       // added by the GEMM, while autograd is handed an unused tensor of the same shape, one per shape for the
                // blocks and kept (TransformerEngine, module/base.py, get_dummy_wgrad), a new one for the head
};

struct FrameworkHabits {
  Framework framework = Framework::megatron;
  WeightGradient weight_gradient = WeightGradient::accumulated;  // temporary whenever the run does not fuse it
  double flat_gradients = 0;     // copies of all gradients in flat arrays or buckets, beside the gradients
  double reduce_elements = 0;    // a bucket of so many elements is held in the dtype of the gradients, twice
  double reserved = 0;           // the allocator's reserved bytes over the allocated ones, less 1
  bool flat_in_compute = false;  // flat_gradients are in the dtype of the passes, whatever gradients add up in
  const char* source = "";
};

/// The row of the run's framework, its weight gradient as the run's fusion setting has it.
FrameworkHabits habits_of(const RunSpec& run);

}  // namespace stagecraft
