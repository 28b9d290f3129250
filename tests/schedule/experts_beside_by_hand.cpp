// Two passes of a block of experts side by side: in which order, and which passes of a rank find company.
#include <algorithm>
#include <catch2/catch.hpp>

#include "body_plans.hpp"
#include "schedule/family.hpp"
#include "schedule/lower.hpp"
#include "schedule/pair_passes.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

Scenario overlapping() {
  Scenario scenario = expert_scenario();
  scenario.model.moe.shared_ffn_hidden = 512;
  scenario.run.overlap.expert = true;
  return scenario;
}

using Names = std::vector<std::string>;

Names names_of(const std::vector<Segment>& segments) {
  Names names;
  for (const Segment& segment : segments) names.emplace_back(segment.name);
  return names;
}

/// Names strictly between two others.
Names between(const Names& names, const char* after, const char* before) {
  const auto from = std::find(names.begin(), names.end(), after);
  const auto to = std::find(from, names.end(), before);
  REQUIRE(to != names.end());
  return {from + 1, to};
}

Names behind(const Names& names, const char* after) {
  return {std::find(names.begin(), names.end(), after) + 1, names.end()};
}

Names before(const Names& names, const char* end) {
  return {names.begin(), std::find(names.begin(), names.end(), end)};
}

std::int32_t hides_behind(const std::vector<Segment>& segments, const char* name) {
  for (const Segment& segment : segments) {
    if (std::string(segment.name) == name) return segment.hides_behind;
  }
  return -1;
}

bool is_weight_gradient(const std::string& name) {
  return name.find("weight-grad") != std::string::npos;
}

}  // namespace

TEST_CASE("an exchange of experts has the kernels of the other pass to hide behind that nothing else waits for") {
  const BodyPart forward = block_of(overlapping(), OpKind::forward),
                 backward = block_of(overlapping(), OpKind::backward);
  const Names f = names_of(forward.segments), b = names_of(backward.segments), both = names_of(forward.beside);
  CHECK(both == names_of(backward.beside));
  // attention | gradient of the experts | experts | gradient of the attention
  CHECK(both.front() == "experts-combine-grad");
  CHECK(between(both, "experts-combine-grad", "experts-dispatch") == before(f, "experts-dispatch"));
  CHECK(between(both, "experts-dispatch", "experts-dispatch-grad") ==
        between(b, "experts-combine-grad", "experts-dispatch-grad"));
  CHECK(between(both, "experts-dispatch-grad", "experts-combine") == between(f, "experts-dispatch", "experts-combine"));
  CHECK(behind(both, "experts-combine") == behind(b, "experts-dispatch-grad"));
  const auto count = [](const Names& names) { return static_cast<std::int32_t>(names.size()); };  // all are kernels
  CHECK(hides_behind(forward.beside, "experts-combine-grad") == count(before(f, "experts-dispatch")));
  CHECK(hides_behind(forward.beside, "experts-dispatch") ==
        count(between(b, "experts-combine-grad", "experts-dispatch-grad")));
  CHECK(hides_behind(forward.beside, "experts-dispatch-grad") ==
        count(between(f, "experts-dispatch", "experts-combine")));
  CHECK(hides_behind(forward.beside, "experts-combine") == count(behind(b, "experts-dispatch-grad")));
}

TEST_CASE("only kernels of its column hide an exchange, and nothing else hides beside another pass") {
  Scenario scenario = overlapping();
  scenario.run.parallel.tensor = 2;
  scenario.run.parallel.sequence_parallel = true;
  scenario.run.overlap.tensor = true;
  const std::vector<Segment> both = block_of(scenario, OpKind::forward).beside;
  std::int32_t exchanges = 0, sent = 0;
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (!both[i].is_collective) continue;
    ++sent;
    if (both[i].collective.group != Axis::expert) {
      CHECK(both[i].hides_behind == 0);
      continue;
    }
    ++exchanges;
    std::int32_t kernels = 0;  // up to the next exchange
    for (std::size_t j = i + 1; j < both.size(); ++j) {
      if (both[j].is_collective && both[j].collective.group == Axis::expert) break;
      if (!both[j].is_collective) ++kernels;
    }
    CHECK(both[i].hides_behind == kernels);
  }
  CHECK(exchanges == 4);
  CHECK(sent > exchanges);
}

TEST_CASE("delayed weight gradients give the exchanges of the backward pass something to hide behind") {
  Scenario scenario = overlapping();
  scenario.run.overlap.delay_weight_grad = true;
  const std::vector<Segment> both = block_of(scenario, OpKind::backward).beside;
  const Names names = names_of(both);
  const auto weights = [](const Names& some) { return std::count_if(some.begin(), some.end(), is_weight_gradient); };
  CHECK(weights(between(names, "experts-dispatch", "experts-dispatch-grad")) == 0);
  CHECK(weights(between(names, "experts-dispatch-grad", "experts-combine")) == 2);  // up and down
  CHECK(weights(behind(names, "experts-combine")) == 0);
  // Those of the attention and of the shared expert run behind the whole pair, beside the next block's exchange.
  CHECK(weights(between(names, "experts-combine-grad", "experts-dispatch")) > 2);
  scenario.run.overlap.delay_weight_grad = false;
  const std::vector<Segment> at_once = block_of(scenario, OpKind::backward).beside;
  CHECK(at_once.size() == both.size());
  CHECK(hides_behind(both, "experts-dispatch-grad") == hides_behind(at_once, "experts-dispatch-grad") + 2);
  CHECK(hides_behind(both, "experts-combine-grad") > hides_behind(at_once, "experts-combine-grad"));
}

TEST_CASE("an input gradient that leaves the weights to another operation has no weight gradients beside it") {
  Scenario scenario = overlapping();
  const Names whole = names_of(block_of(scenario, OpKind::backward).beside);
  const Names split = names_of(block_of(scenario, OpKind::input_grad).beside);
  CHECK(std::any_of(whole.begin(), whole.end(), is_weight_gradient));
  CHECK(std::none_of(split.begin(), split.end(), is_weight_gradient));
  CHECK(block_of(scenario, OpKind::weight_grad).beside.empty());
}

TEST_CASE("nothing runs beside a block that does not overlap, sends nothing, or runs again") {
  Scenario scenario = overlapping();
  scenario.run.recompute = Recompute::full;
  CHECK(block_of(scenario, OpKind::recompute).beside.empty());
  CHECK_FALSE(block_of(scenario, OpKind::forward).beside.empty());
  scenario.run.parallel.expert = 1;
  CHECK(block_of(scenario, OpKind::forward).beside.empty());
  scenario = overlapping();
  scenario.run.overlap.expert = false;
  CHECK(block_of(scenario, OpKind::forward).beside.empty());
  CHECK(make_bodies(make_plan(scenario)).alone.empty());
}

TEST_CASE("a pass finds company in its neighbour of the other direction and another micro-batch or stage") {
  const auto pass = [](OpKind kind, int stage, int micro_batch, bool has_body = true) {
    Op op;
    op.kind = kind;
    op.stage = Stage(stage);
    op.micro_batch = MicroBatch(micro_batch);
    if (has_body) op.body = BodyId(kind == OpKind::forward ? 0 : 1);
    return op;
  };
  const std::vector<BodyId> alone{BodyId(2), BodyId(3), BodyId(), BodyId()};
  const auto bodies = [&](std::vector<Op> program) {
    give_alone_bodies(program, alone);
    std::vector<int> ids;
    for (const Op& op : program) ids.push_back(op.body.valid() ? static_cast<int>(op.body.index()) : -1);
    return ids;
  };
  constexpr OpKind F = OpKind::forward, B = OpKind::backward, I = OpKind::input_grad, send = OpKind::send_activation;
  // One stage, one forward and backward after the other: the first and the last are alone.
  CHECK(bodies({pass(F, 0, 0), pass(B, 0, 0), pass(F, 0, 1), pass(B, 0, 1)}) == std::vector{2, 1, 0, 3});
  // Warm-up, steady, cool-down; what is sent between them changes nothing.
  CHECK(bodies({pass(F, 0, 0), pass(F, 0, 1), pass(send, 0, 1, false), pass(B, 0, 0), pass(B, 0, 1)}) ==
        std::vector{2, 0, -1, 1, 3});
  // Two stages of a rank may run one micro-batch together.
  CHECK(bodies({pass(F, 4, 0), pass(I, 5, 0)}) == std::vector{0, 1});
}

TEST_CASE("a step of one micro-batch has nothing to hide its exchanges behind") {
  Scenario scenario = overlapping();
  scenario.run.batch = {8, 2};  // one micro-batch of two sequences on each of 4 ranks
  const Plan plan = make_plan(scenario);
  ScheduleRequest request;
  request.shape = {1, plan.micro_batches, 1};
  const Schedule schedule = attach_bodies(find_schedule("1f1b")->generate(request), plan);
  for (const Op& op : schedule.programs[0]) {
    if (!op.body.valid()) continue;
    for (const BodyPart& part : schedule.bodies.bodies[op.body.index()].parts) CHECK(part.beside.empty());
  }
}
