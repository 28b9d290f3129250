// Two passes of a block of experts side by side: in which order, and which passes of a rank find company.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "body_plans.hpp"
#include "schedule/company.hpp"
#include "schedule/family.hpp"
#include "schedule/flushes.hpp"
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
  CHECK(make_bodies(make_plan(scenario)).company.empty());
}

namespace {

using Pair = std::pair<std::string, std::string>;

Schedule generated(const char* name, std::int32_t ranks, std::int32_t micro_batches, std::int32_t chunks = 1) {
  ScheduleRequest request;
  request.shape = {ranks, micro_batches, chunks};
  return find_schedule(name)->generate(request);
}

std::vector<Pair> pairs_of(const Schedule& schedule, std::size_t rank, std::int32_t per_drain) {
  std::vector<Pair> named;
  const std::vector<Op>& program = schedule.programs[rank];
  const auto pairs = passes_together(schedule, per_drain);
  for (const auto& [first, second] : pairs[rank]) {
    named.emplace_back(to_text(program[first]), to_text(program[second]));
  }
  return named;
}

/// Blocks that run beside another pass, over all operations of a rank.
std::int32_t company_of(const Schedule& schedule, std::size_t rank) {
  std::int32_t blocks = 0;
  for (const Op& op : schedule.programs[rank]) {
    if (op.body.valid()) blocks += blocks_with_company(schedule.bodies.bodies[op.body.index()]);
  }
  return blocks;
}

Schedule attached(const Scenario& scenario, const char* name) {
  const Plan plan = make_plan(scenario);
  ScheduleRequest request;
  request.shape = {static_cast<std::int32_t>(scenario.run.parallel.pipeline), plan.micro_batches,
                   static_cast<std::int32_t>(scenario.run.parallel.virtual_stages)};
  request.flushes = drains_of(plan.run);
  return attach_bodies(generate_with_flushes(*find_schedule(name), request), plan);
}

/// Eight blocks on two ranks, four micro-batches.
Scenario piped() {
  Scenario scenario = overlapping();
  scenario.run.parallel.pipeline = 2;
  scenario.run.batch = {32, 2};
  return scenario;
}

}  // namespace

TEST_CASE("a pass finds company in its neighbour of the other direction and another micro-batch") {
  // One rank: the first forward and the last backward are alone.
  CHECK(pairs_of(generated("1f1b", 1, 3), 0, 3) == std::vector<Pair>{{"0B0", "0F1"}, {"0B1", "0F2"}});
  // Warm-up and cool-down of the first of two ranks find none.
  CHECK(pairs_of(generated("1f1b", 2, 3), 0, 3) == std::vector<Pair>{{"0F1", "0B0"}, {"0F2", "0B1"}});
  CHECK(pairs_of(generated("1f1b", 2, 3), 1, 3) == std::vector<Pair>{{"1B0", "1F1"}, {"1B1", "1F2"}});
}

TEST_CASE("a pass that waits for its neighbour by way of another rank does not run beside it") {
  // One micro-batch at a time: the second rank gets the next one once the first rank has its gradient back.
  CHECK(pairs_of(generated("naive", 2, 3), 1, 3).empty());
  CHECK(pairs_of(generated("naive", 4, 3), 2, 3).empty());
  // All forwards first: the last forward and the first backward of the last rank are of one micro-batch or not.
  CHECK(pairs_of(generated("gpipe", 2, 3), 0, 3).empty());
}

TEST_CASE("passes on both sides of a drain do not run together") {
  CHECK(pairs_of(generated("1f1b", 1, 4), 0, 2) == std::vector<Pair>{{"0B0", "0F1"}, {"0B2", "0F3"}});
  CHECK(pairs_of(generated("1f1b", 1, 4), 0, 1).empty());
  Scenario scenario = piped();
  CHECK(company_of(attached(scenario, "1f1b"), 0) > 0);
  scenario.run.schedule.flushes = 4;  // as many as micro-batches
  CHECK(company_of(attached(scenario, "1f1b"), 0) == 0);
  CHECK(company_of(attached(scenario, "1f1b"), 1) == 0);
}

TEST_CASE("of two passes together as many blocks hide as both have") {
  Scenario scenario = piped();
  scenario.run.parallel.virtual_stages = 2;
  scenario.run.partition = {PartitionRule::explicit_list, {3, 1, 1, 3}, {}};  // stages 0 and 2 on the first rank
  const Schedule schedule = attached(scenario, "interleaved-1f1b");
  std::set<std::int32_t> seen;
  const auto pairs = passes_together(schedule, 4);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (const auto& [first, second] : pairs[rank]) {
      const Op& a = schedule.programs[rank][first];
      const Op& b = schedule.programs[rank][second];
      const auto own = [&](const Op& op) { return op.stage.value == 0 || op.stage.value == 3 ? 3 : 1; };
      for (const Op* op : {&a, &b}) {
        const std::int32_t blocks = blocks_with_company(schedule.bodies.bodies[op->body.index()]);
        CHECK(blocks == std::min(own(a), own(b)));
        seen.insert(blocks);
      }
      CHECK(flops_of(schedule.bodies.bodies[a.body.index()]).value ==
            flops_of(body_of(schedule.bodies, a.stage.index(), a.kind)).value);
    }
  }
  CHECK(seen == std::set<std::int32_t>{1, 3});
}

TEST_CASE("a forward beside an input gradient has no weight gradients to hide behind") {
  const auto beside_forwards = [](const char* name) {
    const Schedule schedule = attached(piped(), name);
    std::vector<bool> weights;
    for (const Op& op : schedule.programs[0]) {
      if (op.kind != OpKind::forward) continue;
      for (const BodyPart& part : schedule.bodies.bodies[op.body.index()].parts) {
        const Names names = names_of(part.beside);
        if (!names.empty()) weights.push_back(std::any_of(names.begin(), names.end(), is_weight_gradient));
      }
    }
    REQUIRE_FALSE(weights.empty());
    return std::set<bool>(weights.begin(), weights.end());
  };
  CHECK(beside_forwards("1f1b") == std::set<bool>{true});
  CHECK(beside_forwards("zb-h1") == std::set<bool>{false});
}

TEST_CASE("a step of one micro-batch has nothing to hide its exchanges behind") {
  Scenario scenario = overlapping();
  scenario.run.batch = {8, 2};  // one micro-batch of two sequences on each of 4 ranks
  CHECK(company_of(attached(scenario, "1f1b"), 0) == 0);
}
