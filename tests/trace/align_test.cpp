// Joining a predicted and a measured trace; every number below can be worked out by hand.

#include "trace/align.hpp"

#include <catch2/catch.hpp>

#include "trace/summary.hpp"

using namespace stagecraft;

namespace {

Span span_of(OpKind kind, std::int32_t rank, std::int32_t stage, double begin_s, double end_s, std::uint8_t step = 0) {
  Span span;
  span.kind = kind;
  span.rank = rank;
  span.stage = stage;
  span.micro_batch = 0;
  span.begin_s = begin_s;
  span.end_s = end_s;
  span.step = step;
  return span;
}

/// F on rank 0, then F on rank 1, then B on rank 1, then B on rank 0, back to back.
Trace chain(double forward_s, double backward_s) {
  Trace trace;
  trace.labels = {""};
  trace.ranks = {{0, 0, 0, 1}, {1, 1, 0, 1}};
  trace.spans = {span_of(OpKind::forward, 0, 0, 0, forward_s),
                 span_of(OpKind::backward, 0, 0, 2 * forward_s + backward_s, 2 * forward_s + 2 * backward_s),
                 span_of(OpKind::forward, 1, 1, forward_s, 2 * forward_s),
                 span_of(OpKind::backward, 1, 1, 2 * forward_s, 2 * forward_s + backward_s)};
  trace.dependencies = {{0, 2}, {2, 3}, {3, 1}};
  trace.end_s = 2 * forward_s + 2 * backward_s;
  trace.step_end_s = {trace.end_s};
  return trace;
}

}  // namespace

TEST_CASE("Errors by kind are signed, and what a kind explains is its share of the chain") {
  // Predicted F 1 s, B 2 s; measured F 2 s, B 2 s: F is predicted 50 % too short, and explains 2 s of the chain.
  const Alignment alignment = align(chain(1, 2), chain(2, 2));
  CHECK(alignment.pairs.size() == 4);
  CHECK(alignment.predicted_step_s == Approx(6));
  CHECK(alignment.measured_step_s == Approx(8));
  REQUIRE(alignment.kinds.size() == 2);
  CHECK(alignment.kinds[0].kind == OpKind::forward);
  CHECK(alignment.kinds[0].mean_error == Approx(-0.5));
  CHECK(alignment.kinds[0].p95_error == Approx(0.5));
  CHECK(alignment.kinds[0].explains_s == Approx(2));
  CHECK(alignment.kinds[1].mean_error == Approx(0).margin(1e-12));
  CHECK(alignment.kinds[1].explains_s == Approx(0).margin(1e-12));
}

TEST_CASE("What the mean rank waits for the slowest is bubble of the prediction") {
  Trace predicted = chain(1, 2);
  const double idle = align(predicted, chain(1, 2)).predicted_bubble;
  CHECK(idle > 0);
  predicted.provenance = {{"calibration", "0.9"}, {waiting_key, "0.050000"}};
  const Alignment alignment = align(predicted, chain(1, 2));
  CHECK(alignment.predicted_bubble == Approx(idle + 0.05));
  CHECK(alignment.measured_bubble == Approx(idle));
}

TEST_CASE("The bubble is that of all steps, not of the last one") {
  // Rank 0 idles from 1 to 4 of the first step's 6 s, and not at all in the second, which lasts 6 s too.
  Trace trace = chain(1, 2);
  trace.ranks = {{0, 0, 0, 1}};
  trace.spans = {span_of(OpKind::forward, 0, 0, 0, 1), span_of(OpKind::backward, 0, 0, 4, 6),
                 span_of(OpKind::forward, 0, 0, 6, 9, 1), span_of(OpKind::backward, 0, 0, 9, 12, 1)};
  trace.dependencies.clear();
  trace.steps = 2;
  trace.end_s = 12;
  trace.step_end_s = {6, 12};
  const double all = align(trace, trace).measured_bubble;
  CHECK(all == Approx(summarise(trace, 0).bubble_fraction / 2));
  CHECK(summarise(trace, 1).bubble_fraction == 0);
}

TEST_CASE("Operations without a partner are counted, not compared") {
  Trace measured = chain(1, 2);
  measured.spans[3].micro_batch = 7;
  const Alignment alignment = align(chain(1, 2), measured);
  CHECK(alignment.pairs.size() == 3);
  CHECK(alignment.only_predicted == 1);
  CHECK(alignment.only_measured == 1);
}

TEST_CASE("The last steps of a longer measurement are joined with the prediction") {
  Trace measured = chain(1, 2);
  const Trace again = chain(1, 2);
  for (Span span : again.spans) {
    span.begin_s += 6;
    span.end_s += 6;
    span.step = 1;
    measured.spans.push_back(span);
  }
  measured.steps = 2;
  measured.end_s = 12;
  measured.step_end_s = {6, 12};
  sort_spans(measured);
  const Alignment alignment = align(chain(1, 2), measured);
  REQUIRE(alignment.pairs.size() == 4);
  for (const AlignedPair& pair : alignment.pairs) CHECK(measured.spans[pair.measured].step == 1);
  CHECK(alignment.measured_step_s == Approx(6));
}

TEST_CASE("Peak memory is the largest sum of a rank's classes at one time, without the overhead") {
  Trace trace = chain(1, 2);
  trace.counters = {{"memory/activations", "B", 0, {0, 1, 2}, {10, 30, 5}},
                    {"memory/parameters", "B", 0, {0, 2}, {100, 140}},
                    {"memory/overhead", "B", 0, {0}, {1000}},
                    {"memory/activations", "B", 1, {0}, {7}}};
  CHECK(peak_memory_bytes(trace, 0) == 145);  // 10 + 100, 30 + 100, then 5 + 140
  CHECK(peak_memory_bytes(trace, 1) == 7);
  CHECK(peak_memory_bytes(trace, 2) == 0);
}
