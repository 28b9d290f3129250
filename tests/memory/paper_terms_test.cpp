// Every term of the activation formula of arXiv 2205.05198, section 4.1, against the row of the table that stands for
// it.
#include <map>
#include <string>

#include "memory/activations.hpp"
#include "plans.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

// Dyadic sizes, so that every quotient below is exact: h = 1024, a = 16, s = 256, b = 2.
constexpr double h = 1024, a = 16, s = 256, b = 2, sbh = s * b * h, scores = a * s * s * b;

LocalShape shape_with(std::int64_t tensor, bool sequence_parallel) {
  Layout layout;
  layout.tensor = tensor;
  layout.sequence_parallel = sequence_parallel;
  layout.micro_batch = 2;
  return local_shape(plan_of(gpt(1024, 16, 2, 256, 1024), layout));
}

/// Bytes of the rows that the formula counts: all but the means and deviations of the norms, 4 bytes each per token.
double formula_bytes(const LocalShape& shape, Recompute recompute) {
  double bytes = activations_of(shape, block_tensors(shape), recompute).kept.value;
  const double statistics = 2 * 2 * 4 * s * b / (shape.sequence_parallel ? shape.tensor : 1);
  if (recompute != Recompute::full) bytes -= statistics;
  return bytes;
}

}  // namespace

TEST_CASE("a GPT block keeps, tensor by tensor, what the paper lists") {
  const LocalShape shape = shape_with(1, false);
  const std::map<std::string, double> paper = {
      // attention: 11 sbh + 5 a s^2 b
      {"qkv input", 2 * sbh},
      {"query", 2 * sbh},
      {"key", 2 * sbh},
      {"softmax output", 2 * scores},
      {"attention dropout mask", scores},
      {"attention dropout output", 2 * scores},
      {"value", 2 * sbh},
      {"projection input", 2 * sbh},
      {"attention residual dropout mask", sbh},
      // MLP: 19 sbh
      {"mlp input", 2 * sbh},
      {"mlp activation input", 8 * sbh},
      {"mlp down input", 8 * sbh},
      {"mlp residual dropout mask", sbh},
      // layer norms: 4 sbh
      {"attention norm input", 2 * sbh},
      {"mlp norm input", 2 * sbh},
      // left out by the paper: mean and inverse deviation of each token in fp32
      {"attention norm statistics", 8 * s * b},
      {"mlp norm statistics", 8 * s * b},
  };
  std::map<std::string, double> ours;
  for (const SavedTensor& row : block_tensors(shape)) {
    if (row.held == Held::input_grad_to_weight_grad || row.dropped == Dropped::only_per_op) continue;
    ours[row.name] = bytes_on_rank(shape, row.elements, row.dtype, row.shard).value;
  }
  CHECK(ours == paper);
}

TEST_CASE("one block without parallelism keeps sbh (34 + 5 as/h) bytes") {
  CHECK(formula_bytes(shape_with(1, false), Recompute::none) == sbh * (34 + 5 * a * s / h));
}

TEST_CASE("tensor parallelism divides all but 10 sbh: sbh (10 + 24/t + 5 as/(ht))") {
  for (const std::int64_t t : {2, 4, 8}) {
    const double ranks = static_cast<double>(t);
    CHECK(formula_bytes(shape_with(t, false), Recompute::none) == sbh * (10 + 24 / ranks + 5 * a * s / (h * ranks)));
  }
}

TEST_CASE("tensor and sequence parallelism divide everything: sbh/t (34 + 5 as/h)") {
  for (const std::int64_t t : {2, 4, 8}) {
    const double ranks = static_cast<double>(t);
    CHECK(formula_bytes(shape_with(t, true), Recompute::none) == sbh / ranks * (34 + 5 * a * s / h));
  }
}

TEST_CASE("selective recompute drops the term in s squared") {
  CHECK(formula_bytes(shape_with(1, false), Recompute::selective) == 34 * sbh);
  CHECK(formula_bytes(shape_with(8, false), Recompute::selective) == sbh * (10 + 24.0 / 8));
  CHECK(formula_bytes(shape_with(8, true), Recompute::selective) == 34 * sbh / 8);
}

TEST_CASE("full recompute keeps the input of the block: 2 sbh") {
  CHECK(formula_bytes(shape_with(1, false), Recompute::full) == 2 * sbh);
  CHECK(formula_bytes(shape_with(8, false), Recompute::full) == 2 * sbh);
  CHECK(formula_bytes(shape_with(8, true), Recompute::full) == 2 * sbh / 8);
}

TEST_CASE("what a recompute rule drops and what it keeps add up to what no recompute keeps") {
  const LocalShape shape = shape_with(4, true);
  const auto tensors = block_tensors(shape);
  const Bytes all = activations_of(shape, tensors, Recompute::none).kept;
  for (const Recompute rule : {Recompute::selective, Recompute::full}) {
    const LayerActivations part = activations_of(shape, tensors, rule);
    CHECK((part.kept + part.recomputed).value == all.value);
    CHECK(part.recomputed.value > 0);
  }
}
