#pragma once
// One layer of the partition as a rank runs it. Parameters are created in `parameters` under global names; their
// tensors are filled in later (zero/, by the flat buffers of the stage).

#include <deque>
#include <memory>

#include "exec/model/parameter.hpp"
#include "exec/model/shape.hpp"
#include "exec/model/tape.hpp"

namespace stagecraft {

class ModelLayer {
 public:
  ModelLayer() = default;
  ModelLayer(const ModelLayer&) = delete;
  ModelLayer& operator=(const ModelLayer&) = delete;
  virtual ~ModelLayer() = default;
  /// x and the result are [rows, width]; the embedding ignores x, the loss returns a scalar. Without a tape nothing is
  /// kept.
  virtual at::Tensor forward(const at::Tensor& x, const Batch& batch, Tape* tape) = 0;
};

using LayerPtr = std::unique_ptr<ModelLayer>;

/// Deques keep their elements where they are.
using ParameterList = std::deque<Parameter>;

LayerPtr make_embedding(const ModelShape& shape, TensorGroup& group, ParameterList& parameters, bool tied);
LayerPtr make_block(std::int32_t index, const ModelShape& shape, const ModelSpec& model, TensorGroup& group,
                    ParameterList& parameters);
/// `word`: the embedding's own table if it is tied and lies on this rank, else null. `tied`: another rank holds the
/// other copy.
LayerPtr make_head(const ModelShape& shape, TensorGroup& group, ParameterList& parameters, Parameter* word, bool tied);
LayerPtr make_loss(const ModelShape& shape, TensorGroup& group);

/// Layer `index` of a plain list: a linear layer [in -> out] with bias, ReLU after all but the last; mean squared error
/// after the last.
LayerPtr make_plain(std::int32_t index, std::int64_t in, std::int64_t out, bool last, const ModelShape& shape,
                    TensorGroup& group, ParameterList& parameters);

}  // namespace stagecraft
