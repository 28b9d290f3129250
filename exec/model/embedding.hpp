#pragma once
// Word and position embedding; the word table is cut over the tensor group by vocabulary (Megatron-LM
// VocabParallelEmbedding): each rank looks up the rows that it holds, the sum over the group has them all.

#include "exec/model/parameter.hpp"
#include "exec/model/shape.hpp"
#include "exec/model/tape.hpp"

namespace stagecraft {

struct EmbeddingLayer {
  Parameter* word = nullptr;      // [padded vocabulary / t, hidden]
  Parameter* position = nullptr;  // [length, hidden]; may be null
};

/// tokens [rows] -> [rows, hidden], or this rank's rows of it under sequence parallelism.
at::Tensor embed(const EmbeddingLayer& layer, const at::Tensor& tokens, const ModelShape& shape, TensorGroup& group,
                 Tape* tape);

}  // namespace stagecraft
