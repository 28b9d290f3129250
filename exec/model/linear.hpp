#pragma once
// Linear layers cut over the tensor group (arXiv 1909.08053, section 3). Weights are [out, in] as in PyTorch.

#include "exec/model/parameter.hpp"
#include "exec/model/tape.hpp"
#include "exec/model/tensor_group.hpp"

namespace stagecraft {

struct Linear {
  Parameter* weight = nullptr;
  Parameter* bias = nullptr;  // may be null
};

/// x [rows, in] -> [rows, out / t]; each rank holds rows of the weight. Backward sums the input's gradient over the
/// group.
at::Tensor column_linear(const Linear& linear, const at::Tensor& x, TensorGroup& group, Tape* tape);

/// x [rows, in / t] -> [rows, out]; each rank holds columns of the weight. The bias is added once, after the sum.
at::Tensor row_linear(const Linear& linear, const at::Tensor& x, TensorGroup& group, Tape* tape);

/// gradient += g^T x, in the gradient's own type.
void add_weight_gradient(const Parameter& weight, const at::Tensor& x, const at::Tensor& g);
/// gradient += column sums of g.
void add_bias_gradient(const Parameter& bias, const at::Tensor& g);

}  // namespace stagecraft
