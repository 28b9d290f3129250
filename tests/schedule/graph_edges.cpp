#include <algorithm>
#include <catch2/catch.hpp>

#include "hand_written.hpp"
#include "schedule/graph.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

/// The node of an operation by its name on a rank.
std::uint32_t node(const Schedule& schedule, const Graph& graph, std::size_t rank, const std::string& name) {
  const auto& program = schedule.programs[rank];
  const auto found = std::find_if(program.begin(), program.end(), [&](const Op& op) { return to_text(op) == name; });
  REQUIRE(found != program.end());
  return graph.first_of_rank[rank] + static_cast<std::uint32_t>(found - program.begin());
}

std::vector<std::string> successors(const Schedule& schedule, const Graph& graph, std::size_t rank,
                                    const std::string& name) {
  std::vector<std::string> out;
  for (const auto next : successors_of(graph, node(schedule, graph, rank, name))) {
    out.push_back("rank" + std::to_string(rank_at(graph, next).value) + "/" + to_text(op_at(schedule, graph, next)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> across(const Schedule& schedule, const Graph& graph) {
  std::vector<std::string> out;
  for (const auto& [from, to] : graph.across_steps) {
    out.push_back(to_text(op_at(schedule, graph, from)) + "->" + to_text(op_at(schedule, graph, to)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a message puts its send behind its producer and its consumer behind the receive") {
  const Schedule schedule = lower(test::generated("1f1b", 2, 2), LoweringPolicy{.optimizer = false});
  const Graph graph = make_graph(schedule);
  CHECK(node_count(graph) == 16);
  CHECK(successors(schedule, graph, 0, "0F0") == Names{"rank0/0F1", "rank0/0SEND_F0"});
  CHECK(successors(schedule, graph, 0, "0SEND_F0") == Names{"rank0/0SEND_F1", "rank1/1RECV_F0"});
  CHECK(successors(schedule, graph, 1, "1RECV_F0") == Names{"rank1/1F0"});
  CHECK(successors(schedule, graph, 1, "1B0") == Names{"rank1/1F1", "rank1/1SEND_B0"});
  CHECK(successors(schedule, graph, 0, "0RECV_B1") == Names{"rank0/0B1"});
  CHECK(graph.order.size() == node_count(graph));
}

TEST_CASE("a schedule that is not lowered links producers and consumers directly") {
  const Schedule schedule = test::generated("1f1b", 2, 2);
  const Graph graph = make_graph(schedule);
  CHECK(successors(schedule, graph, 0, "0F0") == Names{"rank0/0F1", "rank1/1F0"});
  CHECK(successors(schedule, graph, 1, "1B0") == Names{"rank0/0B0", "rank1/1F1"});
}

TEST_CASE("a blocking send stands between its producer and the next operation") {
  const Schedule schedule =
      lower(test::generated("1f1b", 2, 2), LoweringPolicy{.optimizer = false, .overlap_pipeline = false});
  const Graph graph = make_graph(schedule);
  CHECK(successors(schedule, graph, 0, "0F0") == Names{"rank0/0SEND_F0"});
  CHECK(successors(schedule, graph, 0, "0SEND_F0") == Names{"rank0/0F1", "rank1/1RECV_F0"});
}

TEST_CASE("the recompute waits for the gradient, its backward only for the recompute") {
  const Schedule schedule = lower(test::generated("1f1b", 2, 1), LoweringPolicy{.recompute = true, .optimizer = false});
  const Graph graph = make_graph(schedule);
  CHECK(successors(schedule, graph, 0, "0RECV_B0") == Names{"rank0/0RECOMPUTE0"});
  CHECK(successors(schedule, graph, 0, "0RECOMPUTE0") == Names{"rank0/0B0"});
}

TEST_CASE("reductions written behind the last backward may overlap what follows, those at the end may not") {
  const Schedule compute = test::written({"0F0 1F0 1B0 0B0"}, 1);
  const auto lowered = [&](bool overlap) {
    return lower(compute, LoweringPolicy{.reduce_grad = true, .overlap_reduce = overlap});
  };
  const Schedule early = lowered(true), late = lowered(false);
  CHECK(successors(early, make_graph(early), 0, "1B0") == Names{"rank0/0B0", "rank0/1REDUCE_GRAD"});
  CHECK(successors(late, make_graph(late), 0, "1B0") == Names{"rank0/0B0"});
  CHECK(successors(late, make_graph(late), 0, "0B0") ==
        Names{"rank0/0REDUCE_GRAD", "rank0/1REDUCE_GRAD", "rank0/OPTIMIZER_STEP"});
  CHECK(successors(early, make_graph(early), 0, "0REDUCE_GRAD") == Names{"rank0/OPTIMIZER_STEP"});
}

TEST_CASE("the first computation of a stage waits for its unshard") {
  const Schedule schedule = lower(test::written({"0F0 1F0 1B0 0B0"}, 1),
                                  LoweringPolicy{.shard_parameters = true, .unshard_prefetch = 1, .optimizer = false});
  const Graph graph = make_graph(schedule);
  CHECK(test::text_of(schedule.programs[0]) == "0UNSHARD 0F0 0RESHARD 1UNSHARD 1F0 1B0 1RESHARD 0UNSHARD 0B0 0RESHARD");
  CHECK(successors(schedule, graph, 0, "1UNSHARD") == Names{"rank0/1F0", "rank0/1RESHARD"});
  CHECK(successors(schedule, graph, 0, "0F0") == Names{"rank0/0RESHARD", "rank0/1F0", "rank0/1UNSHARD"});
}

TEST_CASE("the optimizer waits for the reductions of all ranks only where the ranks synchronise") {
  Schedule compute = test::generated("1f1b", 2, 1);
  const LoweringPolicy policy{.reduce_grad = true};
  const auto behind_reduction = [&](OptimizerSync sync) {
    compute.optimizer_sync = sync;
    const Schedule schedule = lower(compute, policy);
    return successors(schedule, make_graph(schedule), 1, "1REDUCE_GRAD");
  };
  CHECK(behind_reduction(OptimizerSync::barrier) == Names{"rank0/OPTIMIZER_STEP", "rank1/OPTIMIZER_STEP"});
  CHECK(behind_reduction(OptimizerSync::post_validation) == Names{"rank1/OPTIMIZER_STEP"});
  CHECK(behind_reduction(OptimizerSync::none) == Names{"rank1/OPTIMIZER_STEP"});
}

TEST_CASE("the reduction of tied embeddings starts on both ranks together") {
  const Schedule schedule =
      lower(test::generated("1f1b", 2, 1), LoweringPolicy{.reduce_tied = true, .optimizer = false});
  const Graph graph = make_graph(schedule);
  CHECK(successors(schedule, graph, 0, "0B0") == Names{"rank0/0REDUCE_TIED", "rank1/1REDUCE_TIED"});
  CHECK(successors(schedule, graph, 1, "1B0") == Names{"rank0/0REDUCE_TIED", "rank1/1REDUCE_TIED", "rank1/1SEND_B0"});
}

TEST_CASE("the two copies of a bidirectional stage are reduced together") {
  const Schedule schedule = lower(test::generated("chimera", 2, 2), LoweringPolicy{.optimizer = false});
  const Graph graph = make_graph(schedule);
  const auto last = [&](std::size_t rank) {
    for (std::size_t i = schedule.programs[rank].size(); i-- > 0;) {
      if (schedule.programs[rank][i].kind == OpKind::backward) return to_text(schedule.programs[rank][i]);
    }
    return std::string();
  };
  const Names behind = successors(schedule, graph, 0, last(0));
  for (const char* name : {"rank0/0REDUCE_GRAD", "rank1/0REDUCE_GRAD"}) {
    CHECK(std::find(behind.begin(), behind.end(), name) != behind.end());
  }
}

TEST_CASE("the next step goes on where this one ends") {
  const Schedule schedule = lower(test::generated("1f1b", 2, 1), LoweringPolicy{});
  CHECK(across(schedule, make_graph(schedule)) ==
        Names{"0SEND_F0->0SEND_F0", "1SEND_B0->1SEND_B0", "OPTIMIZER_STEP->0F0", "OPTIMIZER_STEP->1F0"});
}

TEST_CASE("gathered parameters hold up only the first forward of their stage if the gather may overlap") {
  const Schedule compute = test::written({"0F0 1F0 1B0 0B0"}, 1);
  const auto lowered = [&](bool overlap) {
    return lower(compute, LoweringPolicy{.gather_params = true, .overlap_gather = overlap});
  };
  const Schedule hidden = lowered(true), exposed = lowered(false);
  CHECK(across(hidden, make_graph(hidden)) ==
        Names{"0GATHER_PARAMS->0F0", "1GATHER_PARAMS->0GATHER_PARAMS", "1GATHER_PARAMS->1F0", "OPTIMIZER_STEP->0F0"});
  CHECK(across(exposed, make_graph(exposed)) == Names{"1GATHER_PARAMS->0F0"});
}

TEST_CASE("a program that waits for itself has no complete order") {
  const Schedule schedule = test::written({"0F0 0B0 0F1 0B1", "1F1 1B1 1F0 1B0"}, 2);
  const Graph graph = make_graph(schedule);
  CHECK(graph.order.size() < node_count(graph));
  CHECK(std::isinf(longest_path(graph, std::vector<double>(node_count(graph), 1.0)).makespan_s));
}

TEST_CASE("the graph of every schedule and policy can be put in order") {
  for (const auto& one : test::family_cases({{4, 8, 1}, {4, 8, 2}, {2, 5, 2}, {3, 9, 3}, {8, 16, 2}})) {
    for (int bits = 0; bits < 16; ++bits) {
      LoweringPolicy policy;
      policy.recompute = (bits & 1) != 0;
      policy.shard_parameters = (bits & 2) != 0;
      policy.reduce_grad = policy.reduce_tied = policy.gather_params = true;
      policy.overlap_reduce = policy.overlap_gather = (bits & 4) != 0;
      policy.receive_placement = (bits & 8) != 0 ? ReceivePlacement::before_consumer : ReceivePlacement::at_sender;
      const Graph graph = make_graph(lower(one.entry->generate(one.request), policy));
      INFO(one.text() << " policy " << bits);
      CHECK(graph.order.size() == node_count(graph));
    }
  }
}
