// The library's timing against the exact timer of the tests and what can be derived by hand; steady state of the
// asynchronous schedules.

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "exact_timer.hpp"
#include "family_request.hpp"
#include "schedule/analyse.hpp"
#include "schedule/asynchronous.hpp"
#include "schedule/csv_text.hpp"

using namespace stagecraft;

TEST_CASE("analysis and exact timer agree on every schedule of the family") {
  for (const FamilyEntry& entry : schedule_family()) {
    for (const ScheduleRequest& request : test::requests_of(entry)) {
      if (!test::accepts(entry, request)) continue;
      INFO(entry.name << " p=" << request.shape.ranks << " m=" << request.shape.micro_batches
                      << " v=" << request.shape.chunks);
      const Schedule schedule = entry.generate(request);
      const auto stages = static_cast<std::size_t>(stage_count(schedule));
      for (const bool block : {false, true}) {
        // Per-stage times are used as they are; whole numbers keep every sum exact.
        StageTimes times{
            std::vector<double>(stages, 8), std::vector<double>(stages, 7), std::vector<double>(stages, 4), 1, {}};
        if (block) times.pair.assign(stages, 15);
        const Analysis analysis = analyse(schedule, times);
        const test::Timed timed = test::time_schedule(schedule, {8, 7, 4, 1, block ? 15 : -1});
        REQUIRE(analysis.complete);
        CHECK(analysis.makespan == static_cast<double>(timed.makespan));
        CHECK(analysis.span == static_cast<double>(timed.span));
        CHECK(analysis.most_busy == static_cast<double>(timed.most_busy));
        CHECK(analysis.messages == timed.messages);
        const auto at_w = test::peak_chunks(schedule, true);
        const auto at_i = test::peak_chunks(schedule, false);
        for (std::size_t r = 0; r < at_w.size(); ++r) {
          CHECK(analysis.ranks[r].peak_activations * request.shape.chunks == static_cast<double>(at_w[r]));
          CHECK(analysis.ranks[r].peak_freed_at_input_grad * request.shape.chunks == static_cast<double>(at_i[r]));
        }
      }
    }
  }
}

TEST_CASE("one time stands for a full-depth stage, of which a chunk takes 1/v; no times mean F = I = W = 1") {
  // 24 layers on 3 ranks, two chunks each, 6 micro-batches: 6 * 3 + (3-1) * 3 / 2.
  const Analysis analysis = analyse(test::generate("interleaved-1f1b", {3, 6, 2}), {});
  CHECK(analysis.makespan == 21);
  CHECK(makespan_bubble(analysis) == 3);
  CHECK(makespan_bubble_rate(analysis) == Approx(3.0 / 21));
}

TEST_CASE("a naive pipeline on 4 ranks uses a quarter of them, GPipe with 4 micro-batches 4/7") {
  CHECK(makespan_bubble_rate(analyse(test::generate("naive", {4, 4, 1}), {})) == Approx(0.75));
  CHECK(makespan_bubble_rate(analyse(test::generate("gpipe", {4, 4, 1}), {})) == Approx(3.0 / 7));
  CHECK(makespan_bubble_rate(analyse(test::generate("gpipe", {4, 32, 1}), {})) == Approx(3.0 / 35));
}

TEST_CASE("the slowest stage of an uneven pipeline sets the pace") {
  // 1F1B on 2 ranks, 3 micro-batches, the second stage twice as slow (F = 2, B = 4, the first 1 and 2), no sends. Rank
  // 1 starts at 1 and works without a gap for 3 * 6; rank 0 ends with the last backward, 2 later.
  const Schedule schedule = test::generate("1f1b", {2, 3, 1});
  const Analysis analysis = analyse(schedule, {{1, 2}, {1, 2}, {1, 2}, 0, {}});
  CHECK(analysis.makespan == 1 + 18 + 2);
  CHECK(analysis.most_busy == 18);
  CHECK(analysis.ranks[0].busy == 9);
  CHECK(analysis.ranks[1].first_start == 1);
  CHECK(analysis.spans[1].front().start == 1);
  CHECK(analysis.spans[1].front().end == 3);
}

TEST_CASE("a program that waits for itself is reported as incomplete") {
  // Rank 0 wants the gradient of micro-batch 0 before it lets micro-batch 0 go on.
  const Schedule schedule = parse_csv_schedule("0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n", {});
  CHECK_FALSE(analyse(schedule, {}).complete);
}

// PipeDream and PipeDream-2BW: rate, staleness and weight versions of the steady state.

namespace {

/// Most versions that a rank holds at once if it runs `program`, updates after every `per_update` backwards and drops a
/// version when no running or later micro-batch uses it.
std::size_t versions_held(const Schedule& schedule, std::size_t rank, std::int64_t per_update) {
  const auto version_of = [&](MicroBatch i) {
    return weight_version(schedule.weights, schedule.shape, PipelineRank(rank), i.value);
  };
  std::size_t most = 0;
  std::int64_t updates = 0, backwards = 0;
  std::multiset<std::int64_t> in_flight;
  for (const Op& op : schedule.programs[rank]) {
    const std::int64_t version = version_of(op.micro_batch);
    REQUIRE(version <= updates);
    if (op.kind == OpKind::forward) in_flight.insert(version);
    std::set<std::int64_t> held(in_flight.begin(), in_flight.end());
    held.insert(updates);
    most = std::max(most, held.size());
    if (op.kind == OpKind::forward) continue;
    in_flight.erase(in_flight.find(version));
    if (++backwards % per_update == 0) ++updates;
  }
  return most;
}

}  // namespace

TEST_CASE("PipeDream stashes p-r versions on rank r, and its forwards run with the newest") {
  for (const std::int32_t p : {1, 2, 4, 8}) {
    const Schedule schedule = test::generate("pipedream", {p, 6 * p, 1});
    CHECK(schedule.asynchronous);
    for (std::int32_t r = 0; r < p; ++r) {
      CHECK(versions_held(schedule, static_cast<std::size_t>(r), 1) ==
            static_cast<std::size_t>(weight_versions(schedule.weights, schedule.shape, PipelineRank(r))));
      CHECK(weight_versions(schedule.weights, schedule.shape, PipelineRank(r)) == p - r);
      CHECK(staleness(schedule.weights, schedule.shape, PipelineRank(r)) == p - 1 - r);
      // The forward of micro-batch i runs on rank r after i-(p-1-r) backwards, each of which made a version.
      CHECK(weight_version(schedule.weights, schedule.shape, PipelineRank(r), 20) == 20 - (p - 1 - r));
    }
  }
}

TEST_CASE("PipeDream-2BW gets by with two versions on every rank once m >= p") {
  for (const std::int32_t p : {3, 4, 8}) {
    for (const std::int32_t m : {p, p + 1, 3 * p / 2}) {
      // Four batches in one stream; the policy counts batches of m.
      Schedule stream = test::generate("pipedream-2bw", {p, 4 * m, 1});
      stream.shape.micro_batches = m;
      for (std::int32_t r = 0; r < p; ++r) {
        CHECK(versions_held(stream, static_cast<std::size_t>(r), m) <= 2);
        CHECK(weight_versions(stream.weights, stream.shape, PipelineRank(r)) == 2);
        CHECK(staleness(stream.weights, stream.shape, PipelineRank(r)) == 1);
      }
    }
  }
}

TEST_CASE("a full pipeline passes one micro-batch per steady period") {
  const auto measured_period = [](std::int32_t p, const StageTimes& times) {
    // Long enough for the start to be forgotten: the makespans of two streams differ by the extra micro-batches alone.
    const std::int32_t few = 40 * p, many = 60 * p;
    const double longer = analyse(test::generate("pipedream", {p, many, 1}), times).makespan;
    return (longer - analyse(test::generate("pipedream", {p, few, 1}), times).makespan) / (many - few);
  };
  for (const std::int32_t p : {1, 2, 3, 5, 8}) {
    const StageTimes even{{1}, {1.25}, {0.75}, 0.125, {}};
    CHECK(steady_period({p, 1, 1}, even) == Approx(3 + 2 * 0.125 * (p - 1) / p));
    CHECK(measured_period(p, even) == Approx(steady_period({p, 1, 1}, even)));
  }
  const StageTimes uneven{{1, 2, 1, 3}, {2, 1, 1, 2}, {1, 1, 1, 3}, 1, {}};
  CHECK(steady_period({4, 1, 1}, uneven) == 8);
  CHECK(measured_period(4, uneven) == Approx(8));
  const StageTimes slow_sends{{1, 2, 1, 2}, {2, 1, 2, 1}, {1, 1, 1, 1}, 10, {}};
  CHECK(steady_period({4, 1, 1}, slow_sends) == Approx(4 + 20 * 3 / 4.0));
  CHECK(measured_period(4, slow_sends) == Approx(steady_period({4, 1, 1}, slow_sends)));
}
