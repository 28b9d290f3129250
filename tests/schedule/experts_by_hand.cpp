// Bytes and FLOPs of a block with experts, derived by hand: 1024 tokens of hidden size 1024 on each of 4 ranks, 8
// experts of inner width 512 spread over them, 2 experts per token, fp16 (2 bytes).
#include <catch2/catch.hpp>

#include "body_plans.hpp"
#include "plan/expert_load.hpp"
#include "schedule/experts.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

constexpr double tokens = 2 * 512, h = 1024, inner = 512;

Scenario with_experts() {
  Scenario scenario = expert_scenario();
  scenario.model.mlp.bias = false;
  return scenario;
}

double flops_of(const BodyPart& block, std::string_view prefix) {
  double sum = 0;
  for (const Segment& segment : block.segments) {
    if (std::string_view(segment.name).substr(0, prefix.size()) == prefix) sum += segment.kernel.flops.value;
  }
  return sum;
}

bool has(const BodyPart& block, std::string_view name) {
  for (const Segment& segment : block.segments) {
    if (name == segment.name) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("dropless: every token goes to two experts and comes back") {
  const BodyPart block = block_of(with_experts(), OpKind::forward);
  const double sent = tokens * 2 * h * 2;  // 2048 copies of 1024 fp16 numbers
  CHECK(bytes_of(block, "experts-dispatch") == sent);
  CHECK(bytes_of(block, "experts-combine") == sent);
  // An even share: 2048 rows on this rank, through 1024 x 512 and 512 x 1024.
  CHECK(flops_of(block, "experts-up") == 2 * 2048 * h * inner);
  CHECK(flops_of(block, "experts-down") == 2 * 2048 * inner * h);
  CHECK(flops_of(block, "router") == 2 * tokens * h * 8);
  const Kernel& up = kernel_of(block, "experts-up");
  CHECK(up.batch == 2);  // two experts of 1024 rows each
  CHECK(up.m == 1024);
  CHECK(has(block, "dropless-host-sync"));
  CHECK_FALSE(has(block, "mlp-up"));
}

TEST_CASE("with a capacity every expert takes the same padded number of rows, and nobody asks the host") {
  Scenario scenario = with_experts();
  scenario.model.moe.capacity_factor = 1.25;
  const BodyPart block = block_of(scenario, OpKind::forward);
  // ceil(1024 x 2 / 8 x 1.25) = 320 rows for each of 8 experts.
  CHECK(bytes_of(block, "experts-dispatch") == 8 * 320 * h * 2);
  CHECK(flops_of(block, "experts-up") == 2.0 * 8 * 320 * h * inner);
  CHECK_FALSE(has(block, "dropless-host-sync"));
}

TEST_CASE("the backward pass of experts costs twice the forward pass and sends as much") {
  const BodyPart forward = block_of(with_experts(), OpKind::forward);
  const BodyPart backward = block_of(with_experts(), OpKind::backward);
  CHECK(flops_of(backward, "experts-") == 2 * flops_of(forward, "experts-"));
  CHECK(bytes_of(backward, "experts-combine-grad") == tokens * 2 * h * 2);
  CHECK(bytes_of(backward, "experts-dispatch-grad") == tokens * 2 * h * 2);
}

TEST_CASE("dispatch in fp8 sends a byte per number and four per 128") {
  Scenario scenario = with_experts();
  scenario.run.experts.fp8_dispatch = true;
  const BodyPart block = block_of(scenario, OpKind::forward);
  CHECK(bytes_of(block, "experts-dispatch") == tokens * 2 * (h + 4 * h / 128));
  CHECK(bytes_of(block, "experts-combine") == tokens * 2 * h * 2);
}

TEST_CASE("a deduplicating dispatcher says how many copies of a token go to how many nodes") {
  Scenario scenario = with_experts();
  scenario.model.moe.top_k = 8;
  scenario.model.moe.nodes_per_token = 4;
  scenario.run.experts.dispatcher = Dispatcher::deduplicated;
  for (const Segment& segment : block_of(scenario, OpKind::forward).segments) {
    if (std::string_view(segment.name) != "experts-dispatch") continue;
    CHECK(segment.collective.copies == 8);
    CHECK(segment.collective.most_nodes == 4);
  }
}

TEST_CASE("a deduplicating dispatcher brings a rank one copy of a token and orders rows behind it") {
  Scenario scenario = with_experts();
  scenario.run.experts.dispatcher = Dispatcher::deduplicated;
  const BodyPart forward = block_of(scenario, OpKind::forward);
  CHECK_FALSE(has(forward, "experts-permute"));
  CHECK_FALSE(has(forward, "experts-unpermute"));
  // Two copies over four ranks meet on one rank one time in four: 1.75 arrive for each 2 that are worked on.
  CHECK(distinct_places(4, 2) == Approx(1.75));
  const double worked_on = tokens * 2, arrived = worked_on * 1.75 / 2;
  CHECK(kernel_of(forward, "experts-sort").bytes.value == Approx((arrived + worked_on) * h * 2));
  CHECK(kernel_of(forward, "experts-unsort").bytes.value == Approx((worked_on + arrived) * h * 2));
  const BodyPart backward = block_of(scenario, OpKind::backward);
  CHECK_FALSE(has(backward, "experts-permute-grad"));
  CHECK_FALSE(has(backward, "experts-unpermute-grad"));
  // The gradient of a token's weight is a product with what the expert gave, which is read beside it.
  CHECK(kernel_of(backward, "experts-unsort-grad").bytes.value == Approx((arrived + 2 * worked_on) * h * 2));
  CHECK(kernel_of(backward, "experts-sort-grad").bytes.value == Approx((worked_on + arrived) * h * 2));
}

TEST_CASE("fp8 products copy all rows into padded places and back, unless the router or the dispatcher pads") {
  Scenario scenario = with_experts();
  scenario.run.precision = Precision::fp8_mixed;
  scenario.run.framework = Framework::transformer_engine;
  const BodyPart forward = block_of(scenario, OpKind::forward), backward = block_of(scenario, OpKind::backward);
  const double once = 2 * 2 * 2048 * h;  // 2048 rows of 1024 16-bit numbers, read and written
  CHECK(kernel_of(forward, "experts-pad").bytes.value == once);
  CHECK(kernel_of(forward, "experts-unpad").bytes.value == once);
  CHECK(kernel_of(backward, "experts-unpad-grad").bytes.value == once);
  CHECK(kernel_of(backward, "experts-pad-grad").bytes.value == once);
  const auto pads = [](const Scenario& sample) { return has(block_of(sample, OpKind::forward), "experts-pad"); };
  Scenario other = scenario;
  other.run.experts.router_padding = true;
  CHECK_FALSE(pads(other));
  other = scenario;
  other.run.experts.dispatcher = Dispatcher::deduplicated;
  CHECK_FALSE(pads(other));
  other = scenario;
  other.model.moe.capacity_factor = 1;
  CHECK_FALSE(pads(other));
  other = scenario;
  other.run.precision = Precision::bf16_mixed;
  CHECK_FALSE(pads(other));
  other = scenario;
  other.run.framework = Framework::megatron;
  CHECK_FALSE(pads(other));
}

TEST_CASE("ranks that share an expert gather rows and add up results") {
  Scenario scenario = with_experts();
  scenario.run.parallel.data = 2;
  scenario.run.parallel.tensor = 2;
  scenario.run.parallel.sequence_parallel = true;
  scenario.run.parallel.expert = 2;
  const BodyPart block = block_of(scenario, OpKind::forward);
  // Each tensor rank routes half of the tokens: 512 x 2 copies; two ranks put theirs together for half an expert each.
  CHECK(bytes_of(block, "experts-dispatch") == 512 * 2 * h * 2);
  CHECK(bytes_of(block, "experts-all-gather") == 2 * 512 * 2 * h * 2);
  CHECK(bytes_of(block, "experts-reduce-scatter") == 2 * 512 * 2 * h * 2);
  CHECK(flops_of(block, "experts-up") == 2.0 * 2048 * h * inner / 2);
}

TEST_CASE("a shared expert is an MLP that every token passes") {
  Scenario scenario = with_experts();
  scenario.model.moe.shared_ffn_hidden = 256;
  const BodyPart block = block_of(scenario, OpKind::forward);
  CHECK(kernel_of(block, "mlp-up").flops.value == 2 * tokens * h * 256);
}

TEST_CASE("uneven loads slow the busiest rank, the same for the same seed") {
  Scenario scenario = with_experts();
  CHECK(busiest_expert_rank(make_plan(scenario)) == 1);
  scenario.run.experts.imbalance = 0.5;
  const double busiest = busiest_expert_rank(make_plan(scenario));
  CHECK(busiest > 1.05);
  CHECK(busiest < 4);
  CHECK(busiest == busiest_expert_rank(make_plan(scenario)));
  const BodyPart block = block_of(scenario, OpKind::forward);
  CHECK(flops_of(block, "experts-up") == Approx(busiest * 2 * 2048 * h * inner));
  CHECK(kernel_of(block, "experts-up").average == Approx(1 / busiest));
  scenario.run.experts.seed = 7;
  CHECK(busiest != busiest_expert_rank(make_plan(scenario)));
}

TEST_CASE("the first blocks may be dense, and every second one may have experts") {
  Scenario scenario = with_experts();
  scenario.model.moe.dense_blocks = 2;
  scenario.model.moe.every = 2;
  // Blocks 2, 4 and 6 have experts; 0, 1, 3, 5 and 7 do not.
  const Bodies bodies = make_bodies(make_plan(scenario));
  const Body& body = body_of(bodies, 0, OpKind::forward);
  CHECK(has(block_part(body, 3), "experts-up"));
  CHECK(has(block_part(body, 5), "mlp-up"));
}

TEST_CASE("experts lie on the ranks by a second map: expert-tensor fastest, then expert, then expert-data") {
  Degrees degrees;
  degrees.tensor = 2;
  degrees.data = 8;
  degrees.pipeline = 2;
  degrees.expert = 4;
  degrees.expert_tensor = 1;
  CHECK(group_size(degrees, Axis::expert_data) == 4);
  CHECK(group_of(degrees, Axis::expert, Rank{5}) == std::vector{Rank{4}, Rank{5}, Rank{6}, Rank{7}});
  CHECK(group_of(degrees, Axis::expert_data, Rank{5}) == std::vector{Rank{1}, Rank{5}, Rank{9}, Rank{13}});
  CHECK(group_of(degrees, Axis::expert, Rank{17}) == std::vector{Rank{16}, Rank{17}, Rank{18}, Rank{19}});
  degrees.expert_tensor = 0;  // as many as tensor
  CHECK(group_of(degrees, Axis::expert, Rank{1}) == std::vector{Rank{1}, Rank{3}, Rank{5}, Rank{7}});
  CHECK(group_of(degrees, Axis::expert_tensor, Rank{3}) == std::vector{Rank{2}, Rank{3}});
}

TEST_CASE("gradients of experts are counted apart from those of the dense part") {
  const Plan plan = make_plan(with_experts());
  // 8 blocks x 8 experts x 2 matrices of 1024 x 512, a fourth of them on each rank.
  CHECK(expert_parameters_per_rank(plan, Stage{0}) == 8.0 * 8 * 2 * h * inner / 4);
}

TEST_CASE("kernels of the experts wait for other streams, those of the dense part do not") {
  for (const OpKind kind : {OpKind::forward, OpKind::backward}) {
    for (const Segment& segment : block_of(with_experts(), kind).segments) {
      if (segment.is_collective) continue;
      CAPTURE(segment.name);
      const bool of_experts = std::string_view(segment.name).substr(0, 8) == "experts-";
      CHECK(segment.kernel.among_streams == of_experts);
    }
  }
}

TEST_CASE("TransformerEngine launches a product for each expert, other frameworks one for all") {
  Scenario scenario = with_experts();
  CHECK(kernel_of(block_of(scenario, OpKind::forward), "experts-up").launches == 1);
  scenario.run.framework = Framework::transformer_engine;
  CHECK(kernel_of(block_of(scenario, OpKind::forward), "experts-up").launches == 2);  // two experts on this rank
}
