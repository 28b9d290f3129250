#pragma once
// LayerNorm (arXiv 1607.06450) and RMSNorm (arXiv 1910.07467) over the last dimension.

#include "exec/model/parameter.hpp"
#include "exec/model/tape.hpp"
#include "spec/model_spec.hpp"

namespace stagecraft {

struct NormLayer {
  Norm kind = Norm::layer_norm;
  Parameter* weight = nullptr;
  Parameter* bias = nullptr;  // LayerNorm only
  double epsilon = 1e-5;
};

/// x [rows, width] -> the same shape. The gradients of weight and bias are added with the input's gradient, in I: they
/// come out of the same pass over x.
at::Tensor normalise(const NormLayer& norm, const at::Tensor& x, Tape* tape);

}  // namespace stagecraft
