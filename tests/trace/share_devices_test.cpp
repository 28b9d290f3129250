// Ranks that share a device; every number below can be worked out by hand.

#include "trace/share_devices.hpp"

#include <catch2/catch.hpp>

using namespace stagecraft;

namespace {

Span span_of(OpKind kind, std::int32_t rank, double begin_s, double end_s, Lane lane = Lane::compute) {
  Span span;
  span.kind = kind;
  span.rank = span.stage = rank;
  span.micro_batch = 0;
  span.lane = lane;
  span.begin_s = begin_s;
  span.end_s = end_s;
  return span;
}

/// Two ranks at work at the same time: F for 1 s and B for 2 s on rank 0, F for 3 s on rank 1.
Trace side_by_side() {
  Trace trace;
  trace.labels = {""};
  trace.ranks = {{0, 0, 0, 1}, {1, 1, 0, 1}};
  trace.spans = {span_of(OpKind::forward, 0, 0, 1), span_of(OpKind::backward, 0, 1, 3),
                 span_of(OpKind::forward, 1, 0, 3)};
  trace.end_s = 3;
  trace.step_end_s = {3};
  return trace;
}

}  // namespace

TEST_CASE("Ranks with a device each keep their times") {
  const Trace alone = share_devices(side_by_side(), 2);
  CHECK(alone.end_s == Approx(3));
  CHECK(alone.spans[1].begin_s == Approx(1));
  CHECK(alone.spans[2].end_s == Approx(3));
}

TEST_CASE("Two ranks on one device take twice as long while both work") {
  // Both at half speed: F of rank 0 ends at 2 s, its B at 6 s, and so does F of rank 1: 6 s of work on one device.
  const Trace shared = share_devices(side_by_side(), 1);
  CHECK(shared.end_s == Approx(6));
  CHECK(shared.step_end_s[0] == Approx(6));
  CHECK(shared.spans[0].end_s == Approx(2));
  CHECK(shared.spans[2].end_s == Approx(6));
}

TEST_CASE("A rank that waits leaves the device to the other, and transfers are not slowed down") {
  // F of rank 0 (1 s), a message (0.5 s), F of rank 1 (1 s): one after the other on one device as on two.
  Trace chain;
  chain.labels = {""};
  chain.ranks = {{0, 0, 0, 1}, {1, 1, 0, 1}};
  chain.spans = {span_of(OpKind::forward, 0, 0, 1), span_of(OpKind::send_activation, 0, 1, 1.5, Lane::pipeline),
                 span_of(OpKind::forward, 1, 1.5, 2.5)};
  chain.dependencies = {{0, 1}, {1, 2}};
  chain.end_s = 2.5;
  chain.step_end_s = {2.5};
  CHECK(share_devices(chain, 1).end_s == Approx(2.5));
}

TEST_CASE("Segments are left out, and dependencies find their operations again") {
  Trace trace = side_by_side();
  Span part = trace.spans[0];
  part.segment = 0;
  trace.spans.insert(trace.spans.begin() + 1, part);
  trace.dependencies = {{0, 3}};  // F of rank 1 waits for F of rank 0
  const Trace shared = share_devices(trace, 1);
  REQUIRE(shared.spans.size() == 3);
  // F alone until 1 s, then B (2 s) and F (3 s) at half speed: B ends at 5 s, F at 6 s.
  CHECK(shared.spans[1].end_s == Approx(5));
  CHECK(shared.spans[2].end_s == Approx(6));
}
