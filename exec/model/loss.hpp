#pragma once
// Losses: the mean over the rows of a micro-batch, and its gradient scaled by what the caller asks for.

#include "exec/model/shape.hpp"
#include "exec/model/tape.hpp"

namespace stagecraft {

/// Cross-entropy over logits [rows, padded vocabulary / t] whose columns are cut over the tensor group: three
/// all-reduces of one number per row (maximum, target's logit, sum of exponentials; arXiv 1909.08053, section 3).
/// Computed in fp32 (fp64 for fp64 logits); the softmax is kept. Columns beyond the vocabulary take no part. Consumes
/// the logits. Returns the mean loss; the tape's first step turns the factor (a scalar tensor) into the logits'
/// gradient.
at::Tensor cross_entropy(at::Tensor logits, const at::Tensor& labels, const ModelShape& shape, TensorGroup& group,
                         Tape* tape);

/// Mean of the squared differences, for models that are plain lists of layers.
at::Tensor mean_squared_error(const at::Tensor& output, const at::Tensor& target, Tape* tape);

}  // namespace stagecraft
