// Pipelines without a model: node times by hand, summarised as a report would.

#include <catch2/catch.hpp>
#include <tuple>

#include "estimate/estimated_trace.hpp"
#include "estimate/steady_state.hpp"
#include "schedule/family.hpp"
#include "schedule/graph.hpp"
#include "schedule/lower.hpp"
#include "trace/summary.hpp"

using namespace stagecraft;

namespace {

constexpr double forward_s = 1, backward_s = 2;

Schedule lowered(const char* name, std::int32_t ranks, std::int32_t micro_batches, std::int32_t chunks) {
  ScheduleRequest request;
  request.shape = {ranks, micro_batches, chunks};
  const FamilyEntry* const entry = find_schedule(name);
  REQUIRE(entry != nullptr);
  REQUIRE(entry->refuse(request).empty());
  return lower(entry->generate(request), LoweringPolicy{});
}

/// F = 1, B = 2 per full stage, everything else takes no time.
Trace ideal(const Schedule& schedule) {
  const std::int32_t chunks = schedule.shape.chunks;
  const Graph graph = make_graph(schedule);
  std::vector<double> duration_s;
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) {
      duration_s.push_back(op.kind == OpKind::forward    ? forward_s / chunks
                           : op.kind == OpKind::backward ? backward_s / chunks
                                                         : 0);
    }
  }
  return to_trace(longest_path(graph, duration_s), schedule, graph);
}

Trace ideal(const char* name, std::int32_t ranks, std::int32_t micro_batches, std::int32_t chunks) {
  return ideal(lowered(name, ranks, micro_batches, chunks));
}

}  // namespace

TEST_CASE("GPipe and 1F1B on p stages with m micro-batches take (m+p-1)(F+B)") {
  for (const char* name : {"gpipe", "1f1b"}) {
    for (const std::int32_t p : {1, 2, 3, 4, 8}) {
      for (const std::int32_t m : {1, 2, 4, 9, 16}) {
        const Summary summary = summarise(ideal(name, p, m, 1));
        const double expected_s = (m + p - 1) * (forward_s + backward_s);
        INFO(name << " p=" << p << " m=" << m);
        CHECK(summary.end_s == Approx(expected_s));
        CHECK(summary.bubble_fraction == Approx((p - 1) / static_cast<double>(m + p - 1)));
        CHECK(total(summary.mean) == Approx(expected_s));
        CHECK(total(summary.critical_path.seconds) == Approx(expected_s));
      }
    }
  }
}

TEST_CASE("interleaving v chunks divides the bubble by v") {
  for (const std::int32_t v : {2, 4}) {
    const Summary summary = summarise(ideal("interleaved-1f1b", 4, 8, v));
    const double bubble_s = 3 * (forward_s + backward_s) / v;
    CHECK(summary.end_s == Approx(8 * (forward_s + backward_s) + bubble_s));
    CHECK(bubble(summary.mean) == Approx(bubble_s));
  }
}

TEST_CASE("a naive pipeline on four GPUs works a quarter of the time") {
  CHECK(summarise(ideal("naive", 4, 1, 1)).bubble_fraction == Approx(0.75));
}

TEST_CASE("GPipe with four micro-batches on four stages works four sevenths of the time") {
  CHECK(summarise(ideal("gpipe", 4, 4, 1)).bubble_fraction == Approx(3.0 / 7));
}

TEST_CASE("on the critical path of 1F1B the fill is (p-1) F and the drain (p-1) B") {
  const CriticalPath path = summarise(ideal("1f1b", 4, 8, 1)).critical_path;
  CHECK(bubble(path.seconds) == Approx(3 * (forward_s + backward_s)));
  CHECK(path.seconds[static_cast<std::size_t>(TimeClass::forward)] == Approx(8 * forward_s));
  CHECK(path.seconds[static_cast<std::size_t>(TimeClass::backward)] == Approx(8 * backward_s));
}

TEST_CASE("spans are ordered, and every dependency ends before its successor begins") {
  const Trace trace = ideal("interleaved-1f1b", 4, 8, 2);
  for (std::size_t i = 1; i < trace.spans.size(); ++i) {
    const Span &a = trace.spans[i - 1], &b = trace.spans[i];
    CHECK(std::tuple(a.rank, a.lane, a.begin_s) <= std::tuple(b.rank, b.lane, b.begin_s));
  }
  REQUIRE(!trace.dependencies.empty());
  for (const Dependency& edge : trace.dependencies) CHECK(trace.spans[edge.from].end_s <= trace.spans[edge.to].begin_s);
}

TEST_CASE("without a flush a step takes m (F+B) once the pipeline is full, and nothing idles") {
  for (const char* name : {"pipedream", "pipedream-2bw"}) {
    const Schedule schedule = lowered(name, 4, 32, 1);
    const SteadySummary told = summarise(ideal(schedule), schedule);
    INFO(name);
    CHECK_FALSE(told.cold);
    CHECK(told.summary.step_s == Approx(32 * (forward_s + backward_s)));
    CHECK(told.summary.bubble_fraction == Approx(0).margin(1e-12));
    CHECK(total(told.summary.mean) == Approx(told.summary.step_s));
  }
}

TEST_CASE("a stream too short to fill the pipeline is told as the cold start that it is") {
  const Schedule schedule = lowered("pipedream", 4, 8, 1);
  const SteadySummary told = summarise(ideal(schedule), schedule);
  CHECK(told.cold);
  CHECK(told.summary.step_s == Approx((8 + 4 - 1) * (forward_s + backward_s)));
}
