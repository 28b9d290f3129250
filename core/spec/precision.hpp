#pragma once
// Which number formats a precision stands for. The only place that says so: cost, memory and the executor ask here.

#include "spec/model_spec.hpp"
#include "spec/run_spec.hpp"

namespace stagecraft {

struct NumberFormats {
  Dtype gemm = Dtype::bf16;        // operands of matrix products
  Dtype activation = Dtype::bf16;  // what layers hand to each other, and the weights they read; bf16 under fp8
};

NumberFormats number_formats(Precision precision);

/// In which format the weight gradients of micro-batches are added up, kept and reduced: fp32 (Megatron-LM's main
/// gradients), or that of the weights.
Dtype gradient_dtype(const RunSpec& run);

/// What Megatron-LM does unless told otherwise: bf16 and fp8 runs accumulate in fp32, fp16 runs in fp16
/// (Megatron-LM, arguments.py, accumulate_allreduce_grads_in_fp32).
bool usually_fp32_gradients(Precision precision);

}  // namespace stagecraft
