// What brings tensors to fp8 under the four ways of scaling: 1024 tokens of hidden size 1024, 16-bit activations.
#include <algorithm>
#include <catch2/catch.hpp>

#include "body_plans.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

constexpr double tokens = 2 * 512, h = 1024;

BodyPart forward_block(Fp8Scaling scaling) {
  Scenario scenario = dense_scenario();
  scenario.run.precision = Precision::fp8_mixed;
  scenario.run.fp8_scaling = scaling;
  return block_of(scenario, OpKind::forward);
}

double kernel_bytes(const BodyPart& block, std::string_view name) {
  double sum = 0;
  for (const Segment& segment : block.segments) {
    if (name == segment.name) sum += segment.kernel.bytes.value;
  }
  return sum;
}

}  // namespace

TEST_CASE("with scales from earlier steps norms write fp8 and other tensors are cast and transposed at once") {
  const BodyPart block = forward_block(Fp8Scaling::per_tensor);
  CHECK(kernel_bytes(block, "projection-cast") == tokens * h * (2 + 2));
  CHECK(kernel_bytes(block, "attention-norm-cast") == 0);
}

TEST_CASE("where products take fp8 in any layout nothing is transposed, but blocks are scaled along both sides") {
  const auto bytes = [](Fp8Scaling scaling) {
    Scenario scenario = dense_scenario();
    scenario.cluster.gpu.architecture = "blackwell";
    scenario.run.precision = Precision::fp8_mixed;
    scenario.run.fp8_scaling = scaling;
    const Bodies bodies = make_bodies(make_plan(scenario));
    return kernel_bytes(block_part(body_of(bodies, 0, OpKind::forward), 8), "projection-cast");
  };
  CHECK(bytes(Fp8Scaling::per_tensor) == tokens * h * (2 + 1));
  CHECK(bytes(Fp8Scaling::current) == tokens * h * (2 + 2 + 1));
  CHECK(bytes(Fp8Scaling::per_block) == tokens * h * (2 + 2) + 2 * 4 * tokens * h / 128);
}

TEST_CASE("a scale of this very tensor takes one more read of it, behind norms too") {
  const BodyPart block = forward_block(Fp8Scaling::current);
  CHECK(kernel_bytes(block, "projection-cast") == tokens * h * (2 + 2 + 2));
  CHECK(kernel_bytes(block, "attention-norm-cast") == tokens * h * (2 + 2 + 2));
  CHECK(kernel_bytes(block, "mlp-norm-cast") == tokens * h * (2 + 2 + 2));
}

TEST_CASE("scales per block are four bytes for each 128 numbers of both copies") {
  const BodyPart block = forward_block(Fp8Scaling::per_block);
  CHECK(kernel_bytes(block, "projection-cast") == tokens * h * (2 + 2) + 2 * 4 * tokens * h / 128);
  CHECK(kernel_bytes(block, "mlp-norm-cast") == kernel_bytes(block, "projection-cast"));
}

TEST_CASE("scales per row are found by rows, written with a transposed copy, and found again by that copy's rows") {
  const BodyPart block = forward_block(Fp8Scaling::per_row);
  // Two bytes read, one and two written; then two read and one written.
  CHECK(kernel_bytes(block, "projection-cast") == tokens * h * ((2 + 1 + 2) + (2 + 1)));
  CHECK(kernel_bytes(block, "mlp-norm-cast") == kernel_bytes(block, "projection-cast"));
}

TEST_CASE(
    "with scales per row every product of a backward pass leaves 16 bits that are scaled in a pass of their own") {
  Scenario scenario = dense_scenario();
  scenario.run.precision = Precision::fp8_mixed;
  scenario.run.fp8_scaling = Fp8Scaling::per_row;
  const auto row_wise = [](const BodyPart& block) {
    return std::count_if(block.segments.begin(), block.segments.end(),
                         [](const Segment& segment) { return segment.kernel.row_wise; });
  };
  CHECK(row_wise(block_of(scenario, OpKind::forward)) == 4);  // scales in the kernel; attention stays in 16 bits
  const BodyPart backward = block_of(scenario, OpKind::backward);
  CHECK(row_wise(backward) == 0);
  // Gradients of inputs: h wide of qkv, projection and MLP, 4 h of its second layer; of weights: 3, 1, 4 and 4 h x h.
  CHECK(kernel_bytes(backward, "row-rescale") == (2 + 2) * (tokens * h * (1 + 1 + 1 + 4) + h * h * (3 + 1 + 4 + 4)));
  scenario.run.fp8_scaling = Fp8Scaling::current;
  CHECK(kernel_bytes(block_of(scenario, OpKind::backward), "row-rescale") == 0);
}
