#pragma once
// One trainable tensor as a rank holds it, made of blocks of globally named tensors. Initial values are a function of
// (seed, global name, global row and column) alone, so that every layout starts from the same model.

#include <cstdint>
#include <string>
#include <vector>

#include "exec/torch.hpp"

namespace stagecraft {

/// Rows [row_begin, row_begin + rows) and columns [column_begin, column_begin + columns) of a global tensor, stored
/// from `local_row` on. A vector has one column.
struct ParameterPiece {
  std::string name;  // "block3.attention.query.weight"
  std::int64_t global_rows = 0, global_columns = 1;
  std::int64_t row_begin = 0, rows = 0;
  std::int64_t column_begin = 0, columns = 1;
  std::int64_t local_row = 0;
};

/// How a parameter relates to its namesakes on the other ranks of the tensor group.
enum class TensorRole : std::uint8_t {
  sharded,     // every rank holds another part
  replicated,  // the same on all, and all compute the same gradient
  partial,     // the same on all, but each computes a part of the gradient (sequence parallelism)
};

struct Parameter {
  std::string name;  // of the whole, within its stage: "block3.attention.qkv.weight"
  std::int64_t rows = 0, columns = 1;
  std::vector<ParameterPiece> pieces;
  double deviation = 0;  // of the normal distribution it starts from
  double mean = 0;
  bool vector = false;  // 1-D: `columns` is 1 and the tensor has one dimension; no weight decay
  TensorRole role = TensorRole::sharded;
  bool tied = false;    // also held by another stage (word embedding)
  at::Tensor value;     // compute dtype
  at::Tensor gradient;  // gradient dtype; added to by every micro-batch
  std::int64_t elements() const { return rows * columns; }
};

/// Writes the initial values of `parameter` into `into` (its shape, any floating type, host memory).
/// Normal deviates by Box-Muller from SplitMix64 counters.
void fill_initial(const Parameter& parameter, std::uint64_t seed, const at::Tensor& into);

/// FNV-1a of a name, the root of its random numbers.
std::uint64_t name_hash(const std::string& name);
/// The n-th 64-bit word of a stream (SplitMix64 of a counter).
std::uint64_t random_word(std::uint64_t stream, std::uint64_t n);

}  // namespace stagecraft
