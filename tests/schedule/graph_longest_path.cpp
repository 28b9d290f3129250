// Times that follow from the rule of a schedule, worked out by hand or proved in the papers named.

#include <algorithm>
#include <catch2/catch.hpp>

#include "hand_written.hpp"
#include "schedule/graph.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

struct Times {
  double forward = 1, input_grad = 1, weight_grad = 1;  // of a full-depth stage
  double send = 0, recompute = 0, reduce = 0, optimizer = 0, gather = 0;
};

/// Stages of a rank share its depth; the two copies of a bidirectional pipeline have full depth each.
std::vector<double> durations(const Schedule& schedule, const Times& t) {
  const double share = static_cast<double>(schedule.shape.ranks) / stage_count(schedule);
  std::vector<double> out;
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) {
      switch (op.kind) {
        case OpKind::forward:
          out.push_back(t.forward * share);
          break;
        case OpKind::backward:
          out.push_back((t.input_grad + t.weight_grad) * share);
          break;
        case OpKind::input_grad:
          out.push_back(t.input_grad * share);
          break;
        case OpKind::weight_grad:
          out.push_back(t.weight_grad * share);
          break;
        case OpKind::recompute:
          out.push_back(t.recompute * share);
          break;
        case OpKind::send_activation:
        case OpKind::send_gradient:
          out.push_back(t.send);
          break;
        case OpKind::reduce_grad:
          out.push_back(t.reduce * share);
          break;
        case OpKind::optimizer_step:
          out.push_back(t.optimizer);
          break;
        case OpKind::gather_params:
          out.push_back(t.gather * share);
          break;
        default:
          out.push_back(0);
          break;
      }
    }
  }
  return out;
}

double makespan(const Schedule& compute, const Times& t, const LoweringPolicy& policy = {.optimizer = false}) {
  const Schedule schedule = lower(compute, policy);
  return longest_path(make_graph(schedule), durations(schedule, t)).makespan_s;
}

Approx about(double value) {
  return Approx(value).epsilon(0).margin(1e-9);
}

}  // namespace

TEST_CASE("GPipe and 1F1B without communication take (m + p - 1)(F + B)") {
  const Times t{.forward = 1.5, .input_grad = 1.25, .weight_grad = 0.75};
  for (const std::int32_t p : {1, 2, 3, 4, 8}) {
    for (const std::int32_t m : {1, 2, 3, 4, 7, 16, 32}) {
      INFO("p=" << p << " m=" << m);
      CHECK(makespan(test::generated("gpipe", p, m), t) == about((m + p - 1) * 3.5));
      CHECK(makespan(test::generated("1f1b", p, m), t) == about((m + p - 1) * 3.5));
      CHECK(makespan(test::generated("naive", p, m), t) == about(p * m * 3.5));
    }
  }
}

TEST_CASE("interleaving divides the bubble by the number of chunks") {
  // (p-1)(F+B)/v, arXiv 2104.04473, section 2.2.
  for (const std::int32_t p : {2, 4, 8}) {
    for (const std::int32_t v : {2, 4}) {
      for (const std::int32_t m : {p, 2 * p, 4 * p}) {
        INFO("p=" << p << " m=" << m << " v=" << v);
        CHECK(makespan(test::generated("interleaved-1f1b", p, m, v), {}) == about(3.0 * m + (p - 1) * 3.0 / v));
      }
    }
  }
}

TEST_CASE("no schedule beats the work of one rank, m (F + I + W)") {
  const Times t{.forward = 1, .input_grad = 1.2, .weight_grad = 0.8};
  std::size_t checked = 0;
  for (const auto& one : test::family_cases({{1, 1, 1},
                                             {2, 2, 1},
                                             {2, 4, 2},
                                             {3, 6, 1},
                                             {3, 5, 2},
                                             {4, 8, 1},
                                             {4, 8, 2},
                                             {4, 8, 4},
                                             {5, 12, 1},
                                             {8, 32, 2}})) {
    INFO(one.text());
    CHECK(makespan(one.entry->generate(one.request), t) >= 3.0 * one.request.shape.micro_batches - 1e-9);
    ++checked;
  }
  CHECK(checked > 80);
}

TEST_CASE("what a send costs depends on how much slack the schedule leaves between ranks") {
  const double c = 0.05;
  const Times t{.forward = 1, .input_grad = 1.2, .weight_grad = 0.8, .send = c};
  const auto added = [&](const char* name, std::int32_t p, std::int32_t m, std::int32_t v = 1) {
    const Schedule compute = test::generated(name, p, m, v);
    Times idle = t;
    idle.send = 0;
    return makespan(compute, t) - makespan(compute, idle);
  };
  for (const std::int32_t p : {2, 4, 8}) {
    for (const std::int32_t m : {p, 2 * p, 4 * p}) {
      INFO("p=" << p << " m=" << m);
      CHECK(added("naive", p, m) == about(2 * (p - 1) * m * c));                 // every hop of every micro-batch
      CHECK(added("gpipe", p, m) == about(2 * (p - 1) * c));                     // one ramp up, one ramp down
      CHECK(added("eager-1f1b", p, m) == about(2 * (p - 1) * c));                // the extra forwards hide the rest
      CHECK(added("1f1b", p, m) == about(2 * c * ((p - 1.0) * m / p + p - 2)));  // grows with m
      CHECK(added("interleaved-1f1b", p, m, 2) == about(2 * (2 * p - 1) * c));
    }
  }
}

TEST_CASE("a blocking send costs its sender too") {
  // p = 2, m = 2, F = 1, B = 2, c = 0.5. Rank 0: F0 0-1, send to 1.5, F1 1.5-2.5, send to 3. Rank 1: F0 1.5-2.5,
  // B0 2.5-4.5, send to 5, F1 5-6, B1 6-8, send to 8.5. Rank 0: B0 5-7, B1 8.5-10.5.
  const Times t{.send = 0.5};
  CHECK(makespan(test::generated("1f1b", 2, 2), t, {.optimizer = false, .overlap_pipeline = false}) == about(10.5));
  // With free sends rank 1's F1 starts at 4.5: half a unit earlier.
  CHECK(makespan(test::generated("1f1b", 2, 2), t) == about(10));
}

TEST_CASE("a receive that is posted late delays its message") {
  // p = 2, m = 2, F = 1, B = 2, c = 0.5. Rank 1 posts the receive of micro-batch 1 only after B0, at 4.5; the message
  // has been waiting since 2 and arrives at 5: F1 5-6, B1 6-8, and the gradient reaches rank 0 at 8.5.
  const LoweringPolicy late{.optimizer = false, .receive_placement = ReceivePlacement::before_consumer};
  CHECK(makespan(test::generated("1f1b", 2, 2), {.send = 0.5}, late) == about(10.5));
}

TEST_CASE("a recompute lengthens every backward, also where a rank waits for gradients") {
  // (m + p - 1)(F + R + B), since the recompute starts only when the gradient is there.
  CHECK(makespan(test::generated("1f1b", 4, 8), {.recompute = 1}, {.recompute = true, .optimizer = false}) ==
        about(11 * 4));
}

TEST_CASE("the step ends with reduction, optimizer and gather") {
  const Times t{.reduce = 5, .optimizer = 0.5, .gather = 0.25};
  LoweringPolicy policy;
  policy.reduce_grad = policy.gather_params = true;
  // 1F1B at p = 4, m = 8: the last rank ends at 8 * 3 + 3 = 27, the first at 33. All wait for the slowest reduction.
  CHECK(makespan(test::generated("1f1b", 4, 8), t, policy) == about(33 + 5 + 0.5 + 0.25));
}

TEST_CASE("a reduction may hide behind other stages of its rank") {
  // One rank, two stages with F = 0.5, B = 1, m = 1: stage 1's gradients are there at 2, stage 0's at 3.
  // Each reduction takes 0.4: 3 + 0.4 if stage 1's is hidden, 3 + 0.8 if both come at the end.
  const Schedule compute = test::written({"0F0 1F0 1B0 0B0"}, 1);
  const Times t{.reduce = 0.8};
  CHECK(makespan(compute, t, {.reduce_grad = true, .overlap_reduce = true}) == about(3.4));
  CHECK(makespan(compute, t, {.reduce_grad = true, .overlap_reduce = false}) == about(3.8));
}

TEST_CASE("without a barrier the next step starts in the bubble of this one") {
  // ZB-H2 in units: every rank works 3m without a gap, so that steps follow each other every 3m = 24 although one alone
  // takes 3m + p - 1 = 27 (arXiv 2401.10241, section 4). With a barrier each step takes 27.
  const auto second_step_ends = [](OptimizerSync sync) {
    Schedule compute = test::generated("zb-h2", 4, 8);
    compute.optimizer_sync = sync;
    const Schedule schedule = lower(compute, LoweringPolicy{});
    const Graph graph = make_graph(schedule);
    const auto duration = durations(schedule, {});
    NodeTimes times;
    std::vector<double> earliest;
    longest_path(graph, duration, times);
    carry_over(graph, times, earliest);
    longest_path(graph, duration, earliest, times);
    return times.makespan_s;
  };
  CHECK(second_step_ends(OptimizerSync::post_validation) == about(27 + 24));
  CHECK(second_step_ends(OptimizerSync::barrier) == about(27 + 27));
}

TEST_CASE("start times are the earliest that the dependencies allow, and buffers can be reused") {
  const Schedule schedule = lower(test::generated("1f1b", 2, 1), {.optimizer = false});
  const Graph graph = make_graph(schedule);
  NodeTimes times;
  for (int run = 0; run < 2; ++run) {
    longest_path(graph, durations(schedule, {.send = 0.5}), times);
    // Rank 0: F0 0-1, SEND_F0 1-1.5, RECV_B0, B0. Rank 1: RECV_F0, F0 1.5-2.5, B0 2.5-4.5, SEND_B0 4.5-5.
    CHECK(times.start_s == std::vector<double>{0, 1, 5, 5, 1.5, 1.5, 2.5, 4.5});
    CHECK(times.end_s == std::vector<double>{1, 1.5, 5, 7, 1.5, 2.5, 4.5, 5});
    CHECK(times.makespan_s == 7);
  }
}
