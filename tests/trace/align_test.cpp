// Joining a predicted and a measured trace; every number below can be worked out by hand.

#include "trace/align.hpp"

#include <catch2/catch.hpp>

#include "trace/pair_ranks.hpp"
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

/// The chain with other numbers for its two ranks, each of which stands for so many.
Trace renumbered(Trace trace, std::int32_t first, std::int32_t second, std::int32_t represents) {
  for (Span& span : trace.spans) span.rank = span.rank == 0 ? first : second;
  trace.ranks = {{first, 0, 0, represents}, {second, 1, 0, represents}};
  trace.kind = "predicted";
  return trace;
}

using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;
Pairs paired(const Trace& a, const Trace& b) {
  Pairs pairs;
  for (const RankPair& pair : pair_ranks(a, b)) pairs.emplace_back(pair.a, pair.b);
  return pairs;
}

Trace ranks_only(const char* kind, std::vector<TraceRank> ranks) {
  Trace trace;
  trace.kind = kind;
  trace.ranks = std::move(ranks);
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

TEST_CASE("An optimizer step is joined whether or not a format keeps the stage that it was made with") {
  Trace predicted = chain(1, 2), measured = chain(1, 2);
  predicted.spans.push_back(span_of(OpKind::optimizer_step, 1, 1, 6, 7));
  measured.spans.push_back(span_of(OpKind::optimizer_step, 1, -1, 6, 7));
  measured.spans.back().micro_batch = -1;
  const Alignment alignment = align(predicted, measured);
  CHECK(alignment.pairs.size() == 5);
  CHECK(alignment.only_predicted + alignment.only_measured == 0);
}

TEST_CASE("Operations without a partner are counted, not compared") {
  Trace measured = chain(1, 2);
  measured.spans[3].micro_batch = 7;
  const Alignment alignment = align(chain(1, 2), measured);
  CHECK(alignment.pairs.size() == 3);
  CHECK(alignment.only_predicted == 1);
  CHECK(alignment.only_measured == 1);
}

TEST_CASE("With another degree of tensor parallelism operations are joined by pipeline rank") {
  // 32 GPUs as 2 x 2 x 8 and, of half of them, as 2 x 2 x 4: rank 16 is the second pipeline rank, then rank 8 is.
  Trace a = renumbered(chain(1, 2), 0, 16, 16), b = renumbered(chain(2, 2), 0, 8, 8);
  a.counters = {{"memory/activations", "B", 16, {0}, {7}}};
  b.counters = {{"memory/activations", "B", 8, {0}, {9}}};
  const Alignment alignment = align(a, b);
  REQUIRE(alignment.pairs.size() == 4);
  CHECK(alignment.only_predicted + alignment.only_measured == 0);
  for (const AlignedPair& pair : alignment.pairs) CHECK(a.spans[pair.predicted].stage == b.spans[pair.measured].stage);
  REQUIRE(alignment.memory.size() == 1);
  CHECK(alignment.memory[0].rank == 16);
  CHECK(alignment.memory[0].measured_bytes == 9);
}

TEST_CASE("A number that is another pipeline rank's in the other trace pairs nothing") {
  // Rank 8 is the second pipeline rank of the one and the third of the other.
  const Trace a = ranks_only("predicted", {{0, 0, 0, 8}, {8, 1, 0, 8}, {16, 2, 0, 8}});
  const Trace b = ranks_only("predicted", {{0, 0, 0, 4}, {4, 1, 0, 4}, {8, 2, 0, 4}});
  CHECK(paired(a, b) == Pairs{{0, 0}, {8, 4}, {16, 8}});
  // Of more pipeline ranks than the other trace has, the last have no partner.
  const Trace fewer = ranks_only("predicted", {{0, 0, 0, 12}, {12, 1, 0, 12}});
  CHECK(paired(a, fewer) == Pairs{{0, 0}, {8, 12}});
}

TEST_CASE("Replicas that are played apart are paired in their order") {
  const Trace a = ranks_only("predicted", {{0, 0, 0, 8}, {8, 0, 0, 8}, {16, 0, 0, 8}});
  const Trace b = ranks_only("predicted", {{0, 0, 0, 4}, {4, 0, 0, 4}, {8, 0, 0, 4}, {12, 0, 0, 4}});
  CHECK(paired(a, b) == Pairs{{0, 0}, {8, 4}, {16, 8}});
}

TEST_CASE("A measurement of every rank is joined with representatives by their numbers") {
  const Trace a = ranks_only("predicted", {{0, 0, 0, 2}, {2, 1, 0, 2}});
  const Trace b = ranks_only("measured", {{0, 0, 0, 1}, {1, 0, 0, 1}, {2, 1, 0, 1}, {3, 1, 0, 1}});
  CHECK(paired(a, b) == Pairs{{0, 0}, {2, 2}});
}

TEST_CASE("A profile that tells no pipeline ranks is joined by number where its stages are the same") {
  const Trace a = renumbered(chain(1, 2), 0, 4, 4);
  Trace b = renumbered(chain(1, 2), 0, 4, 1);
  b.kind = "measured";
  b.ranks[1].pipeline_rank = 4;  // as the readers of profiles number them
  CHECK(paired(a, b) == Pairs{{0, 0}, {4, 4}});
  // Rank 1 of the tensor group, which such a profile calls pipeline rank 1, is not the second stage.
  b.ranks[1] = {1, 1, 0, 1};
  for (Span& span : b.spans) span.rank = span.rank == 4 ? 1 : span.rank, span.stage = 0;
  CHECK(paired(a, b) == Pairs{{0, 0}});
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
