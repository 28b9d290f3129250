// Bytes and FLOPs of one block's attention under context parallelism, derived by hand: 2 sequences of 512 tokens, 16
// heads of 64, 4 context ranks, fp16 (2 bytes).
#include <catch2/catch.hpp>

#include "body_plans.hpp"
#include "plan/attended.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

constexpr double sequences = 2, length = 512, ranks = 4, heads = 16, d = 64;
constexpr double local = length / ranks;  // tokens of a sequence on one rank

Scenario split(ContextMethod method) {
  Scenario scenario = dense_scenario();
  scenario.run.attention_kernel = AttentionKernel::flash_2;
  scenario.run.parallel.context = 4;
  scenario.run.parallel.context_method = method;
  return scenario;
}

double attention_flops(const BodyPart& block) {
  double sum = 0;
  for (const Segment& segment : block.segments) {
    if (segment.kernel.kind == KernelKind::attention) sum += segment.kernel.flops.value;
  }
  return sum;
}

int kernels(const BodyPart& block) {
  int count = 0;
  for (const Segment& segment : block.segments) count += segment.kernel.kind == KernelKind::attention ? 1 : 0;
  return count;
}

// A causal sequence has length^2 / 2 pairs of query and key; each costs 2 d FLOPs for the score and 2 d for the output.
constexpr double causal_flops = sequences * heads * (length * length / 2) * 4 * d;

}  // namespace

TEST_CASE("a ring layer passes keys and values to a neighbour once less than it has ranks") {
  const BodyPart block = block_of(split(ContextMethod::ring), OpKind::forward);
  // Keys and values of the local tokens: 2 x (2 x 128) tokens x 16 heads x 64 x 2 bytes = 1 MiB.
  const double key_value = 2 * sequences * local * heads * d * 2;
  CHECK(key_value == 1048576);
  CHECK(count_collectives(block, CollectiveKind::exchange, key_value) == 3);
  CHECK(kernels(block) == 4);
  CHECK(attention_flops(block) == causal_flops / ranks);  // zig-zag: every rank has its even share
}

TEST_CASE("in a ring layer's backward pass gradients of keys and values travel along and home") {
  const BodyPart block = block_of(split(ContextMethod::ring), OpKind::backward);
  const double key_value = 2 * sequences * local * heads * d * 2;
  // 3 times keys and values, 4 times their gradients: the last hop brings them home.
  CHECK(count_collectives(block, CollectiveKind::exchange, key_value) == 3 + 4);
  // Five products instead of two.
  CHECK(attention_flops(block) == causal_flops / ranks * 2.5);
  // Only the last hop has no kernel behind it.
  int alone = 0;
  for (const Segment& segment : block.segments) {
    if (segment.is_collective && segment.collective.kind == CollectiveKind::exchange && segment.hides_behind == 0) {
      ++alone;
    }
  }
  CHECK(alone == 1);
}

TEST_CASE("without zig-zag slices the last rank has 2 - 1/c times the average") {
  Scenario scenario = split(ContextMethod::ring);
  scenario.run.parallel.zig_zag = false;
  const BodyPart block = block_of(scenario, OpKind::forward);
  // The last 128 queries see 384 keys before their own and half of their own: 128 x 384 + 128^2 / 2 = 57344 pairs,
  // 1.75 times a fourth of 131072.
  const double pairs = local * (length - local) + local * local / 2;
  CHECK(pairs == 57344);
  CHECK(attention_flops(block) == sequences * heads * pairs * 4 * d);
  CHECK(pairs == (2 - 1 / ranks) * length * length / 2 / ranks);
}

TEST_CASE("grouped queries pass fewer keys and values round") {
  Scenario scenario = split(ContextMethod::ring);
  scenario.model.attention.kv_heads = 4;
  const BodyPart block = block_of(scenario, OpKind::forward);
  CHECK(count_collectives(block, CollectiveKind::exchange, 2 * sequences * local * 4 * d * 2) == 3);
}

TEST_CASE("a Ulysses layer exchanges queries, keys and values for heads, and the output back") {
  const BodyPart block = block_of(split(ContextMethod::ulysses), OpKind::forward);
  const double tokens = sequences * local;
  CHECK(count_collectives(block, CollectiveKind::all_to_all, tokens * 3 * heads * d * 2) == 1);
  CHECK(count_collectives(block, CollectiveKind::all_to_all, tokens * heads * d * 2) == 1);
  const Kernel& attention = kernel_of(block, "flash-attention");
  CHECK(attention.batch == 2 * 16 / 4);  // a fourth of the heads
  CHECK(attention.m == 512);             // over the whole sequence
  CHECK(attention.n == 512);
  CHECK(attention.flops.value == causal_flops / ranks);
}

TEST_CASE("Ulysses copies key and value heads that are fewer than its ranks") {
  Scenario scenario = split(ContextMethod::ulysses);
  scenario.model.attention.kv_heads = 2;
  const BodyPart block = block_of(scenario, OpKind::forward);
  // 16 query heads, and 2 heads each of keys and values sent to 4 ranks.
  CHECK(count_collectives(block, CollectiveKind::all_to_all, sequences * local * (16 + 2 * 4) * d * 2) == 1);
}

TEST_CASE("all-gather gives every rank all keys and values, and scatters their gradients") {
  const double all = 2 * sequences * length * heads * d * 2;
  const BodyPart forward = block_of(split(ContextMethod::all_gather), OpKind::forward);
  CHECK(count_collectives(forward, CollectiveKind::all_gather, all) == 1);
  CHECK(attention_flops(forward) == causal_flops / ranks);
  const BodyPart backward = block_of(split(ContextMethod::all_gather), OpKind::backward);
  CHECK(count_collectives(backward, CollectiveKind::all_gather, all) == 1);
  CHECK(count_collectives(backward, CollectiveKind::reduce_scatter, all) == 1);
}

TEST_CASE("two methods combined: heads among neighbours, a ring across them") {
  Scenario scenario = split(ContextMethod::combined);
  scenario.run.parallel.ulysses = 2;
  const BodyPart block = block_of(scenario, OpKind::forward);
  CHECK(count_collectives(block, CollectiveKind::all_to_all, sequences * local * 3 * heads * d * 2) == 1);
  // Two ring ranks hold 256 tokens each with half of the heads: one exchange.
  CHECK(count_collectives(block, CollectiveKind::exchange, 2 * sequences * 256 * 8 * d * 2) == 1);
  CHECK(attention_flops(block) == causal_flops / ranks);
  const Degrees degrees = make_plan(scenario).degrees;
  CHECK(group_of(degrees, Axis::ulysses, Rank{0}) == std::vector{Rank{0}, Rank{1}});
  CHECK(group_of(degrees, Axis::ring, Rank{0}) == std::vector{Rank{0}, Rank{2}});
}

TEST_CASE("a window and packed documents leave fewer pairs") {
  CHECK(attended_pairs({true, 0, {}}, 512) == 512 * 512 / 2);
  // 64 tokens grow to the window, the other 448 see 64 each.
  CHECK(attended_pairs({true, 64, {}}, 512) == 64 * 64 / 2 + 448 * 64);
  CHECK(attended_pairs({false, 0, {}}, 512) == 512 * 512);
  // Half of the tokens in documents of 128, half in one of 256: 2 x 128^2 / 2 + 256^2 / 2.
  const std::vector<LengthShare> lengths{{128, 0.5}, {256, 0.5}};
  CHECK(attended_pairs({true, 0, lengths}, 512) == 2 * 128 * 128 / 2 + 256 * 256 / 2);
  CHECK(packing_imbalance({true, 0, lengths}, 512, 4, 8) > 0);
  CHECK(packing_imbalance({true, 0, {}}, 512, 4, 8) == 0);
}
