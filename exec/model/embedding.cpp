#include "exec/model/embedding.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/logical_or.h>

namespace stagecraft {

namespace {

/// Which of the tokens this rank holds, and their rows in its part of the table (row 0 for those of others).
struct LocalTokens {
  at::Tensor rows;
  at::Tensor of_others;  // [rows, 1] bool; undefined if the rank holds the whole table
};

LocalTokens local_tokens(const at::Tensor& tokens, const Parameter& word, const TensorGroup& group) {
  if (group.size() == 1) return {tokens, {}};
  const at::Tensor shifted = tokens - group.index() * word.rows;
  const at::Tensor outside = at::logical_or(shifted.lt(0), shifted.ge(word.rows));
  return {shifted.masked_fill(outside, 0), outside.unsqueeze(1)};
}

/// Adds rows of g to the rows of a table's gradient, in the order of the tokens.
void add_rows(const Parameter& table, const at::Tensor& rows, const at::Tensor& g) {
  table.gradient.index_add_(0, rows, g.to(table.gradient.scalar_type()));
}

}  // namespace

at::Tensor embed(const EmbeddingLayer& layer, const at::Tensor& tokens, const ModelShape& shape, TensorGroup& group,
                 Tape* tape) {
  const LocalTokens local = local_tokens(tokens, *layer.word, group);
  at::Tensor y = at::index_select(layer.word->value, 0, local.rows);
  if (local.of_others.defined()) y.masked_fill_(local.of_others, 0);
  y = group.leave(y);
  at::Tensor positions;
  if (layer.position != nullptr) {
    positions = at::arange(y.size(0), tokens.options());
    if (group.sequence_parallel()) positions.add_(group.index() * y.size(0));
    positions.remainder_(shape.length);
    y.add_(at::index_select(layer.position->value, 0, positions));
  }
  if (tape != nullptr) {
    tape->push([layer, local, positions, &group](at::Tensor g, Backward& backward) {
      backward.weights.add([layer, local, positions, g = std::move(g), &group] {
        if (layer.position != nullptr) add_rows(*layer.position, positions, g);
        const at::Tensor whole = group.enter(g);
        add_rows(*layer.word, local.rows, local.of_others.defined() ? whole.masked_fill(local.of_others, 0) : whole);
      });
      return at::Tensor();
    });
  }
  return y;
}

}  // namespace stagecraft
