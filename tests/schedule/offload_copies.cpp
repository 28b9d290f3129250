// Copies between GPU and host as operations: where they stand, what they wait for, what waits for them.

#include <algorithm>
#include <catch2/catch.hpp>

#include "family_request.hpp"
#include "hand_written.hpp"
#include "schedule/check.hpp"
#include "schedule/csv_text.hpp"
#include "schedule/graph.hpp"
#include "schedule/json_text.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

using Names = std::vector<std::string>;
using SecondsByKind = std::vector<std::pair<OpKind, double>>;

std::vector<Op>::iterator find(Schedule& schedule, const std::string& name) {
  auto& program = schedule.programs[0];
  const auto found = std::find_if(program.begin(), program.end(), [&](const Op& op) { return to_text(op) == name; });
  REQUIRE(found != program.end());
  return found;
}

std::uint32_t node(const Schedule& schedule, const Graph& graph, std::size_t rank, const std::string& name) {
  const auto& program = schedule.programs[rank];
  const auto found = std::find_if(program.begin(), program.end(), [&](const Op& op) { return to_text(op) == name; });
  REQUIRE(found != program.end());
  return graph.first_of_rank[rank] + static_cast<std::uint32_t>(found - program.begin());
}

Names successors(const Schedule& schedule, const Graph& graph, std::size_t rank, const std::string& name) {
  Names out;
  for (const auto next : successors_of(graph, node(schedule, graph, rank, name))) {
    out.push_back(to_text(op_at(schedule, graph, next)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

NodeTimes timed(const Schedule& schedule, const Graph& graph, const SecondsByKind& seconds,
                const std::vector<double>& earliest_s = {}) {
  std::vector<double> durations;
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) {
      const auto found =
          std::find_if(seconds.begin(), seconds.end(), [&](const auto& s) { return s.first == op.kind; });
      durations.push_back(found == seconds.end() ? 0 : found->second);
    }
  }
  NodeTimes times;
  longest_path(graph, durations, earliest_s, times);
  return times;
}

void erase(Schedule& schedule, const std::string& name) {
  schedule.programs[0].erase(find(schedule, name));
}

void swap(Schedule& schedule, const std::string& a, const std::string& b) {
  std::swap(*find(schedule, a), *find(schedule, b));
}

Names codes(const Schedule& schedule) {
  Names out;
  for (const Finding& finding : check_schedule(schedule)) out.push_back(finding.code);
  return out;
}

}  // namespace

TEST_CASE("an offload stands before each forward, a reload before each backward or its recompute") {
  LoweringPolicy policy{.optimizer = false};
  policy.offload_activations = true;
  CHECK(test::text_of(lower(test::generated("gpipe", 1, 2), policy).programs[0]) ==
        "0OFFLOAD0 0F0 0OFFLOAD1 0F1 0RELOAD0 0B0 0RELOAD1 0B1");
  policy.recompute = true;
  CHECK(test::text_of(lower(test::generated("gpipe", 1, 1), policy).programs[0]) ==
        "0OFFLOAD0 0F0 0RELOAD0 0RECOMPUTE0 0B0");
}

TEST_CASE("a copy starts with its pass, and what waits for the pass waits for both") {
  LoweringPolicy policy{.optimizer = false};
  policy.offload_activations = true;
  const Schedule schedule = lower(test::generated("1f1b", 2, 2), policy);
  const Graph graph = make_graph(schedule);
  CHECK(graph.order.size() == node_count(graph));
  CHECK(successors(schedule, graph, 0, "0F0") == Names{"0F1", "0OFFLOAD1", "0SEND_F0"});
  CHECK(successors(schedule, graph, 0, "0OFFLOAD0") == Names{"0F1", "0OFFLOAD1", "0SEND_F0"});
  CHECK(successors(schedule, graph, 1, "1RECV_F0") == Names{"1F0", "1OFFLOAD0"});
  CHECK(successors(schedule, graph, 1, "1F0") == Names{"1B0", "1RELOAD0"});
  CHECK(successors(schedule, graph, 0, "0RECV_B1") == Names{"0B1", "0RELOAD1"});
  // One rank, two micro-batches of F = 2 and B = 4: copies of 3 seconds stick out of the forward passes alone.
  const Schedule alone = lower(test::generated("gpipe", 1, 2), policy);
  const SecondsByKind seconds = {
      {OpKind::forward, 2}, {OpKind::backward, 4}, {OpKind::offload, 3}, {OpKind::reload, 3}};
  CHECK(timed(alone, make_graph(alone), seconds).makespan_s == 2 * 3 + 2 * 4);
}

TEST_CASE("a reload runs beside recompute and backward together") {
  LoweringPolicy policy{.optimizer = false};
  policy.recompute = policy.offload_activations = true;
  const Schedule schedule = lower(test::generated("gpipe", 1, 2), policy);
  const Graph graph = make_graph(schedule);
  const auto makespan = [&](double reload) {
    return timed(schedule, graph,
                 {{OpKind::forward, 1}, {OpKind::recompute, 1}, {OpKind::backward, 2}, {OpKind::reload, reload}})
        .makespan_s;
  };
  CHECK(makespan(3) == 2 + 2 * 3);  // hidden
  CHECK(makespan(5) == 2 + 2 * 5);
}

TEST_CASE("gradients of the stage that ends first leave behind the backward of the others") {
  // Two stages of one rank: F = 1, B = 2. 1B0 ends at 4, 0B0 at 6; gradients take 2 each, the step 1, parameters 3.
  const Schedule schedule =
      add_optimizer_copies(add_optimizer(test::written({"0F0 1F0 1B0 0B0"}, 1)), /*parameters_stay=*/false);
  CHECK(test::text_of(schedule.programs[0]) ==
        "0F0 1F0 1B0 1OFFLOAD_GRAD 0B0 0OFFLOAD_GRAD OPTIMIZER_STEP 0RELOAD_PARAM 1RELOAD_PARAM");
  const Graph graph = make_graph(schedule);
  const SecondsByKind seconds = {{OpKind::forward, 1},
                                 {OpKind::backward, 2},
                                 {OpKind::offload_grad, 2},
                                 {OpKind::optimizer_step, 1},
                                 {OpKind::reload_param, 3}};
  const NodeTimes first = timed(schedule, graph, seconds);
  CHECK(first.start_s[node(schedule, graph, 0, "1OFFLOAD_GRAD")] == 4);
  CHECK(first.start_s[node(schedule, graph, 0, "0OFFLOAD_GRAD")] == 6);
  CHECK(first.start_s[node(schedule, graph, 0, "OPTIMIZER_STEP")] == 8);
  CHECK(first.makespan_s == 9 + 3 + 3);
  // The next step: stage 0 goes on once its parameters are there, while those of stage 1 still travel.
  std::vector<double> earliest_s;
  carry_over(graph, first, earliest_s);
  const NodeTimes second = timed(schedule, graph, seconds, earliest_s);
  CHECK(second.start_s[node(schedule, graph, 0, "0F0")] == 12);
  CHECK(second.start_s[node(schedule, graph, 0, "1F0")] == 15);
}

TEST_CASE("gradients are copied once they are reduced, and parameters come before they are gathered") {
  LoweringPolicy policy;
  policy.reduce_grad = policy.overlap_reduce = policy.reduce_tied = policy.gather_params = true;
  policy.offload_optimizer = true;
  const Schedule schedule = lower(test::generated("1f1b", 2, 1), policy);
  CHECK(test::text_of(schedule.programs[1]) ==
        "1RECV_F0 1F0 1B0 1SEND_B0 1REDUCE_GRAD 1REDUCE_TIED 1OFFLOAD_GRAD OPTIMIZER_STEP 1RELOAD_PARAM "
        "1GATHER_PARAMS");
  const Graph graph = make_graph(schedule);
  const Names after_tied = successors(schedule, graph, 1, "1REDUCE_TIED");
  CHECK(std::count(after_tied.begin(), after_tied.end(), "1OFFLOAD_GRAD") == 1);
  // The steps of both ranks: they end together.
  CHECK(successors(schedule, graph, 1, "1OFFLOAD_GRAD") == Names{"OPTIMIZER_STEP", "OPTIMIZER_STEP"});
  CHECK(successors(schedule, graph, 1, "1RELOAD_PARAM") == Names{"1GATHER_PARAMS"});
}

TEST_CASE("parameters on the host come before each gather, and none go up behind the step") {
  LoweringPolicy policy;
  policy.shard_parameters = policy.reduce_grad = policy.offload_optimizer = policy.offload_parameters = true;
  const Schedule schedule = lower(test::generated("gpipe", 1, 1), policy);
  CHECK(test::text_of(schedule.programs[0]) ==
        "0RELOAD_PARAM 0UNSHARD 0F0 0B0 0RESHARD 0REDUCE_GRAD 0OFFLOAD_GRAD OPTIMIZER_STEP");
  const Graph graph = make_graph(schedule);
  CHECK(successors(schedule, graph, 0, "0RELOAD_PARAM") == Names{"0UNSHARD"});
  // The next step fetches what this step's optimizer has updated.
  const auto waits = [&](const std::string& name) {
    return std::count(graph.across_steps.begin(), graph.across_steps.end(),
                      Graph::Edge{node(schedule, graph, 0, "OPTIMIZER_STEP"), node(schedule, graph, 0, name)});
  };
  CHECK(waits("0RELOAD_PARAM") == 1);
  CHECK(waits("0UNSHARD") == 1);
}

TEST_CASE("every schedule of the family runs through with copies") {
  for (const FamilyEntry& entry : schedule_family()) {
    std::size_t tried = 0;
    for (const ScheduleRequest& request : test::requests_of(entry)) {
      if (request.shape.ranks > 4 || request.shape.micro_batches > 8 || !test::accepts(entry, request)) continue;
      LoweringPolicy policy;
      policy.reduce_grad = policy.gather_params = policy.offload_activations = policy.offload_optimizer = true;
      policy.recompute = tried % 2 == 1;
      const Schedule schedule = lower(entry.generate(request), policy);
      INFO(entry.name << " on " << request.shape.ranks << " ranks, " << request.shape.micro_batches);
      CHECK(codes(schedule).empty());
      const Graph graph = make_graph(schedule);
      CHECK(graph.order.size() == node_count(graph));
      ++tried;
    }
    CHECK(tried > 0);
  }
}

TEST_CASE("copies that are missing, doubled or misplaced are found") {
  LoweringPolicy policy;
  policy.offload_activations = policy.offload_optimizer = policy.reduce_grad = true;
  const Schedule sound = lower(test::generated("gpipe", 1, 1), policy);
  CHECK(codes(sound).empty());
  const auto after = [&](auto change) {
    Schedule broken = sound;
    change(broken);
    return codes(broken);
  };
  CHECK(after([](Schedule& s) { erase(s, "0RELOAD0"); }) == Names{"copy-unmatched"});
  CHECK(after([](Schedule& s) { erase(s, "0OFFLOAD0"); }) == Names{"copy-unmatched"});
  CHECK(after([](Schedule& s) {
          const Op twice = s.programs[0].front();
          s.programs[0].insert(s.programs[0].begin(), twice);
        }) == Names{"copy-unmatched"});
  CHECK(after([](Schedule& s) { swap(s, "0OFFLOAD0", "0F0"); }) == Names{"copy-misplaced"});
  CHECK(after([](Schedule& s) { swap(s, "0RELOAD0", "0B0"); }) == Names{"copy-misplaced"});
  CHECK(after([](Schedule& s) { swap(s, "0OFFLOAD_GRAD", "0REDUCE_GRAD"); }) == Names{"copy-misplaced"});
  CHECK(after([](Schedule& s) { swap(s, "0OFFLOAD_GRAD", "OPTIMIZER_STEP"); }) == Names{"copy-misplaced"});
  CHECK(after([](Schedule& s) { find(s, "0OFFLOAD0")->lane = Lane::compute; }) == Names{"copy-lane"});
}

TEST_CASE("a schedule with copies survives its JSON form; PyTorch's CSV has no word for them") {
  LoweringPolicy policy;
  policy.offload_activations = policy.offload_optimizer = true;
  const Schedule schedule = lower(test::generated("1f1b", 2, 2), policy);
  const Schedule again = parse_json_schedule(to_json(schedule), "schedule.json");
  REQUIRE(again.programs.size() == schedule.programs.size());
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    CHECK(test::text_of(again.programs[rank]) == test::text_of(schedule.programs[rank]));
  }
  const Findings refused = refuse_csv(lower(test::generated("gpipe", 1, 1), policy));
  CHECK(refused.size() == 5);  // OPTIMIZER_STEP and the four copies
}
