#include "trace/summary.hpp"

#include <catch2/catch.hpp>

#include "hand_made.hpp"

using namespace stagecraft;

namespace {

double seconds(const Breakdown& breakdown, TimeClass time_class) {
  return breakdown[static_cast<std::size_t>(time_class)];
}

/// 1F1B on two ranks, two micro-batches, F = 1, B = 2, messages of `c` seconds:
///   rank 0  F0 F1 ..... B0 B1       rank 1  . F0 B0 F1 B1
Trace two_ranks(double c) {
  HandMade make;
  const auto f00 = make.add(0, OpKind::forward, 0, 0, 0, 1);
  const auto f01 = make.add(0, OpKind::forward, 0, 1, 1, 2, {f00});
  const auto s00 = make.add(0, OpKind::send_activation, 0, 0, 1, 1 + c, {f00});
  const auto s01 = make.add(0, OpKind::send_activation, 0, 1, 2, 2 + c, {f01, s00});
  const auto r00 = make.add(1, OpKind::recv_activation, 1, 0, 1 + c, 1 + c, {s00});
  const auto r01 = make.add(1, OpKind::recv_activation, 1, 1, 2 + c, 2 + c, {s01});
  const auto f10 = make.add(1, OpKind::forward, 1, 0, 1 + c, 2 + c, {r00});
  const auto b10 = make.add(1, OpKind::backward, 1, 0, 2 + c, 4 + c, {f10});
  const auto f11 = make.add(1, OpKind::forward, 1, 1, 4 + c, 5 + c, {r01, b10});
  const auto b11 = make.add(1, OpKind::backward, 1, 1, 5 + c, 7 + c, {f11});
  const auto t10 = make.add(1, OpKind::send_gradient, 1, 0, 4 + c, 4 + 2 * c, {b10});
  const auto t11 = make.add(1, OpKind::send_gradient, 1, 1, 7 + c, 7 + 2 * c, {b11, t10});
  const auto g10 = make.add(0, OpKind::recv_gradient, 0, 0, 4 + 2 * c, 4 + 2 * c, {t10});
  const auto g11 = make.add(0, OpKind::recv_gradient, 0, 1, 7 + 2 * c, 7 + 2 * c, {t11});
  const auto b00 = make.add(0, OpKind::backward, 0, 0, 4 + 2 * c, 6 + 2 * c, {g10, f01});
  make.add(0, OpKind::backward, 0, 1, 7 + 2 * c, 9 + 2 * c, {g11, b00});
  return make.finish();
}

}  // namespace

TEST_CASE("1F1B on two ranks without communication idles (p-1)(F+B) of (m+p-1)(F+B)") {
  const Summary summary = summarise(two_ranks(0));
  CHECK(summary.end_s - summary.begin_s == Approx(9));
  CHECK(summary.bubble_fraction == Approx(3.0 / 9));
  CHECK(seconds(summary.mean, TimeClass::forward) == Approx(2));
  CHECK(seconds(summary.mean, TimeClass::backward) == Approx(4));
  CHECK(total(summary.mean) == Approx(9));
}

TEST_CASE("the first rank waits for its first backward in the warm-up, the last rank for the end in the cool-down") {
  const Summary summary = summarise(two_ranks(0));
  REQUIRE(summary.ranks.size() == 2);
  // Rank 0: idle 2..4 before its first backward, 6..7 between its backwards, after its last forward.
  CHECK(seconds(summary.ranks[0].seconds, TimeClass::bubble_warmup) == Approx(2));
  CHECK(seconds(summary.ranks[0].seconds, TimeClass::bubble_cooldown) == Approx(1));
  // Rank 1: idle 0..1 before its first forward, 7..9 after its last backward.
  CHECK(seconds(summary.ranks[1].seconds, TimeClass::bubble_warmup) == Approx(1));
  CHECK(seconds(summary.ranks[1].seconds, TimeClass::bubble_cooldown) == Approx(2));
  CHECK(seconds(summary.mean, TimeClass::bubble_steady) == 0);
}

TEST_CASE("what has been produced but has not arrived is exposed pipeline communication, not bubble") {
  const Summary summary = summarise(two_ranks(0.25));
  // Rank 0 waits for two gradients in flight, rank 1 for its first activation; while the other computes they wait for
  // that.
  CHECK(seconds(summary.ranks[0].seconds, TimeClass::pipeline_communication) == Approx(0.25 + 0.25));
  CHECK(seconds(summary.ranks[1].seconds, TimeClass::pipeline_communication) == Approx(0.25));
  for (const RankSummary& rank : summary.ranks) CHECK(total(rank.seconds) == Approx(9.5));
}

TEST_CASE("the critical path passes through the last rank and counts the other's work as fill and drain") {
  const Summary summary = summarise(two_ranks(0));
  const CriticalPath& path = summary.critical_path;
  CHECK(path.busiest_rank == 1);
  CHECK(seconds(path.seconds, TimeClass::forward) == Approx(2));
  CHECK(seconds(path.seconds, TimeClass::backward) == Approx(4));
  CHECK(seconds(path.seconds, TimeClass::bubble_warmup) == Approx(1));    // F0 on rank 0
  CHECK(seconds(path.seconds, TimeClass::bubble_cooldown) == Approx(2));  // B1 on rank 0
  CHECK(total(path.seconds) == Approx(9));
}

TEST_CASE("messages on the critical path are pipeline communication") {
  const CriticalPath path = summarise(two_ranks(0.25)).critical_path;
  CHECK(seconds(path.seconds, TimeClass::pipeline_communication) == Approx(0.5));
  CHECK(total(path.seconds) == Approx(9.5));
}

TEST_CASE("tensor-parallel communication inside an operation is taken out of its class") {
  Trace trace = two_ranks(0);
  for (Span& span : trace.spans) {
    if (span.kind == OpKind::forward) span.tensor_s = 0.25;
  }
  const Summary summary = summarise(trace);
  CHECK(seconds(summary.mean, TimeClass::tensor_communication) == Approx(0.5));
  CHECK(seconds(summary.mean, TimeClass::forward) == Approx(1.5));
  CHECK(total(summary.critical_path.seconds) == Approx(9));
}

TEST_CASE("communication inside an operation goes to the class that it serves, whole spans and parts of them alike") {
  Trace trace = two_ranks(0);
  const InnerCommunication inner{0.125, 0.25, 0.0625, 0.03125};
  for (Span& span : trace.spans) {
    if (span.kind != OpKind::forward) continue;
    span.tensor_s = 0.25;
    span.inner = index_of(trace.inner, inner);
  }
  const Summary summary = summarise(trace);
  // Two forward passes of one second per rank.
  CHECK(seconds(summary.mean, TimeClass::tensor_communication) == Approx(2 * 0.25));
  CHECK(seconds(summary.mean, TimeClass::context_communication) == Approx(2 * 0.125));
  CHECK(seconds(summary.mean, TimeClass::expert_communication) == Approx(2 * 0.25));
  CHECK(seconds(summary.mean, TimeClass::data_communication) == Approx(2 * 0.0625));
  CHECK(seconds(summary.mean, TimeClass::host_copies) == Approx(2 * 0.03125));
  CHECK(seconds(summary.mean, TimeClass::forward) == Approx(2 * (1 - 0.25 - 0.46875)));
  CHECK(total(summary.mean) == Approx(9));
  CHECK(total(summary.critical_path.seconds) == Approx(9));
  const Summary half = summarise_between(trace, 0, 0.5);  // rank 0 is half through its first forward
  CHECK(seconds(half.ranks[0].seconds, TimeClass::expert_communication) == Approx(0.125));
  CHECK(total(half.ranks[0].seconds) == Approx(0.5));
}

TEST_CASE("communication inside an operation is never longer than the operation") {
  Trace trace = two_ranks(0);
  trace.spans[0].inner = index_of(trace.inner, {0.75, 0.75, 1, 1});
  const InnerCommunication inner = inner_of(trace, trace.spans[0]);
  CHECK(inner == InnerCommunication{0.75, 0.25, 0, 0});
  CHECK(index_of(trace.inner, {}) == 0);
  CHECK(index_of(trace.inner, {0.75, 0.75, 1, 1}) == trace.spans[0].inner);
}

TEST_CASE("waiting for a copy between GPU and host is a class of its own") {
  HandMade make;
  const auto forward = make.add(0, OpKind::forward, 0, 0, 0, 1);
  const auto down = make.add(0, OpKind::offload, 0, 0, 0, 1.5);
  const auto backward = make.add(0, OpKind::backward, 0, 0, 1.5, 3.5, {forward, down});
  const auto gradients = make.add(0, OpKind::offload_grad, 0, -1, 3.5, 4, {backward});
  const auto optimizer = make.add(0, OpKind::optimizer_step, 0, -1, 4, 5, {gradients});
  make.add(0, OpKind::reload_param, 0, -1, 5, 5.25, {optimizer});
  const Summary summary = summarise(make.finish());
  CHECK(seconds(summary.mean, TimeClass::host_copies) == Approx(0.5 + 0.5 + 0.25));
  CHECK(seconds(summary.critical_path.seconds, TimeClass::host_copies) == Approx(1.5 + 0.5 + 0.25));
  CHECK(total(summary.mean) == Approx(5.25));
  CHECK(total(summary.critical_path.seconds) == Approx(5.25));
  CHECK(summary.bubble_fraction == 0);
}

TEST_CASE("waiting for a gradient reduction before the optimizer is exposed data-parallel communication") {
  HandMade make;
  const auto forward = make.add(0, OpKind::forward, 0, 0, 0, 1);
  const auto backward = make.add(0, OpKind::backward, 0, 0, 1, 3, {forward});
  const auto reduce = make.add(0, OpKind::reduce_grad, 0, -1, 3, 3.5, {backward});
  const auto optimizer = make.add(0, OpKind::optimizer_step, 0, -1, 3.5, 3.75, {reduce, backward});
  make.add(0, OpKind::gather_params, 0, -1, 3.75, 4, {optimizer});
  const Summary summary = summarise(make.finish());
  CHECK(seconds(summary.mean, TimeClass::data_communication) == Approx(0.75));
  CHECK(seconds(summary.mean, TimeClass::optimizer) == Approx(0.25));
  CHECK(summary.bubble_fraction == 0);
  CHECK(seconds(summary.critical_path.seconds, TimeClass::data_communication) == Approx(0.75));
}

TEST_CASE("idle time without a cause is reported as other, never as bubble") {
  HandMade make;
  const auto forward = make.add(0, OpKind::forward, 0, 0, 0, 1);
  make.add(0, OpKind::backward, 0, 0, 1.5, 3, {forward});
  const Summary summary = summarise(make.finish());
  CHECK(seconds(summary.mean, TimeClass::other) == Approx(0.5));
  CHECK(seconds(summary.critical_path.seconds, TimeClass::other) == Approx(0.5));
  CHECK(summary.bubble_fraction == 0);
}

TEST_CASE("the last step lasts from the end of the step before") {
  Trace trace = two_ranks(0);
  const std::size_t spans = trace.spans.size();
  for (std::size_t i = 0; i < spans; ++i) {
    Span later = trace.spans[i];
    later.begin_s += 9;
    later.end_s += 9;
    later.step = 1;
    trace.spans.push_back(later);
  }
  const std::vector<Dependency> once = trace.dependencies;
  for (const Dependency& edge : once) {
    const auto shift = static_cast<std::uint32_t>(spans);
    trace.dependencies.push_back({edge.from + shift, edge.to + shift});
  }
  trace.steps = 2;
  trace.end_s = 18;
  trace.step_end_s = {9, 18};
  sort_spans(trace);
  const Summary summary = summarise(trace);
  CHECK(summary.begin_s == Approx(9));
  CHECK(summary.end_s == Approx(18));
  CHECK(summary.bubble_fraction == Approx(3.0 / 9));
  CHECK(summarise(trace, 0).end_s == Approx(9));
}

TEST_CASE("a rank that stands for others counts as often in the mean") {
  Trace trace = two_ranks(0);
  trace.ranks[1].represents = 3;
  const Summary summary = summarise(trace);
  CHECK(seconds(summary.mean, TimeClass::bubble_warmup) == Approx((2 + 3 * 1) / 4.0));
}

TEST_CASE("dependencies that form a cycle do not hang the summary") {
  HandMade make;
  const auto first = make.add(0, OpKind::forward, 0, 0, 0, 1);
  const auto send = make.add(1, OpKind::send_gradient, 1, 0, 2, 2, {first});
  const auto receive = make.add(0, OpKind::recv_gradient, 0, 0, 2, 2, {send});
  make.trace.dependencies.push_back({receive, send});
  make.add(0, OpKind::backward, 0, 0, 3, 4, {receive});
  const Summary summary = summarise(make.finish());
  CHECK(total(summary.mean) == Approx(4));
  CHECK(total(summary.critical_path.seconds) == Approx(4));
}
