#include "spec/precision.hpp"

#include "spec/recipe.hpp"

namespace stagecraft {

NumberFormats number_formats(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return {Dtype::fp32, Dtype::fp32};
    case Precision::tf32:
      return {Dtype::tf32, Dtype::fp32};
    case Precision::fp16_mixed:
      return {Dtype::fp16, Dtype::fp16};
    case Precision::fp8_mixed:
      return {Dtype::fp8, Dtype::bf16};
    case Precision::bf16_mixed:
    case Precision::bf16_pure:
      break;
  }
  return {Dtype::bf16, Dtype::bf16};
}

Dtype gradient_dtype(const RunSpec& run) {
  const bool wide = bytes_of(recipe_of(run)).gradient >= size_of(Dtype::fp32).value;
  return wide ? Dtype::fp32 : number_formats(run.precision).activation;
}

bool usually_fp32_gradients(Precision precision) {
  return precision != Precision::fp16_mixed && precision != Precision::bf16_pure;
}

}  // namespace stagecraft
