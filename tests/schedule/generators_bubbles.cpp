// Bubbles and the cost of sends against the closed forms of the papers, with times that are no round numbers.

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "exact_timer.hpp"
#include "family_request.hpp"

using namespace stagecraft;

namespace {

struct Case {
  std::int64_t p = 1, m = 1, v = 1;
  std::int64_t F = 1, I = 1, W = 1, c = 0;  // of one chunk
  std::int64_t B() const { return I + W; }
};

test::Timed time_case(const char* name, const Case& at) {
  const PipelineShape shape{static_cast<std::int32_t>(at.p), static_cast<std::int32_t>(at.m),
                            static_cast<std::int32_t>(at.v)};
  return test::time_schedule(test::generate(name, shape), {at.F, at.I, at.W, at.c, -1});
}

bool possible(const char* name, const Case& at) {
  ScheduleRequest request;
  request.shape = {static_cast<std::int32_t>(at.p), static_cast<std::int32_t>(at.m), static_cast<std::int32_t>(at.v)};
  const FamilyEntry& entry = *find_schedule(name);
  if (entry.chunks == ChunkRule::two_per_wave) request.waves = request.shape.chunks / 2;
  return test::accepts(entry, request);
}

std::int64_t makespan_bubble(const char* name, const Case& at) {
  return time_case(name, at).makespan - at.m * at.v * (at.F + at.I + at.W);
}
std::int64_t span_bubble(const char* name, const Case& at) {
  return time_case(name, at).span - at.m * at.v * (at.F + at.I + at.W);
}

constexpr std::int64_t times[][3] = {{1, 1, 1}, {10, 12, 8}, {7, 5, 3}, {5, 9, 4}, {3, 3, 11}};

/// All cases of a grid that `where` holds for; p in 1..8, m in 1..4p.
void over_grid(const char* name, std::int64_t v, const std::function<bool(const Case&)>& where,
               const std::function<void(const Case&)>& check) {
  std::size_t checked = 0;
  for (const auto& t : times) {
    for (std::int64_t p = 1; p <= 8; ++p) {
      for (std::int64_t m = 1; m <= 4 * p; ++m) {
        const Case at{p, m, v, t[0], t[1], t[2], 0};
        if (!possible(name, at) || !where(at)) continue;
        INFO(name << " p=" << p << " m=" << m << " v=" << v << " F,I,W=" << t[0] << "," << t[1] << "," << t[2]);
        check(at);
        ++checked;
      }
    }
  }
  CHECK(checked > 0);
}

bool always(const Case&) {
  return true;
}
bool unit(const Case& at) {
  return at.F == at.I && at.I == at.W;
}
bool short_weight_grad(const Case& at) {
  return at.W <= std::min(at.F, at.I);
}
bool full(const Case& at) {
  return at.m >= 2 * at.p - 1;
}

}  // namespace

TEST_CASE("naive: one rank works at a time, so p-1 of p ranks idle") {
  over_grid("naive", 1, always,
            [](const Case& at) { CHECK(makespan_bubble("naive", at) == (at.p - 1) * at.m * (at.F + at.B())); });
}

TEST_CASE("GPipe, 1F1B and eager 1F1B wait (p-1)(F+B)") {
  for (const char* name : {"gpipe", "gpipe-descending", "1f1b", "eager-1f1b", "pipedream", "pipedream-2bw"}) {
    over_grid(name, 1, always,
              [&](const Case& at) { CHECK(makespan_bubble(name, at) == (at.p - 1) * (at.F + at.B())); });
  }
}

TEST_CASE("interleaving and breadth-first divide that by v") {
  for (const std::int64_t v : {2, 3}) {
    for (const char* name : {"interleaved-1f1b", "looped-bfs", "looped-bfs-ascending"}) {
      over_grid(
          name, v, [](const Case& at) { return at.m >= at.p; },
          [&](const Case& at) { CHECK(makespan_bubble(name, at) == (at.p - 1) * (at.F + at.B())); });
    }
  }
}

TEST_CASE("ZB-H1 waits (p-1)(F+I-W) as long as W is the shortest") {
  over_grid(
      "zb-h1", 1, [](const Case& at) { return at.m >= at.p && short_weight_grad(at); },
      [](const Case& at) { CHECK(makespan_bubble("zb-h1", at) == (at.p - 1) * (at.F + at.I - at.W)); });
}

TEST_CASE("interleaved zero bubble divides that by v") {
  over_grid(
      "interleaved-zb", 2, [](const Case& at) { return at.m % at.p == 0 && short_weight_grad(at); },
      [](const Case& at) { CHECK(makespan_bubble("interleaved-zb", at) == (at.p - 1) * (at.F + at.I - at.W)); });
}

TEST_CASE("ZB-H2 and ZBV leave no gap on any rank, yet a step between two barriers keeps its ramps") {
  over_grid("zb-h2", 1, short_weight_grad,
            [](const Case& at) { CHECK(span_bubble("zb-h2", at) == (at.p - 1) * (at.F + at.I - 2 * at.W)); });
  over_grid("zb-h2", 1, unit, [](const Case& at) { CHECK(makespan_bubble("zb-h2", at) == (at.p - 1) * at.F); });
  for (const char* name : {"zbv", "zbv-auto"}) {
    over_grid(
        name, 2, [](const Case& at) { return unit(at) && full(at); },
        [&](const Case& at) {
          CHECK(makespan_bubble(name, at) == (at.p - 1) * at.F);
          CHECK(span_bubble(name, at) == 0);
        });
  }
}

TEST_CASE("V-half and V-min in the unit case, from 2p-1 micro-batches on") {
  const auto full_unit = [](const Case& at) { return unit(at) && full(at) && at.p >= 2; };
  over_grid("v-half", 2, full_unit, [](const Case& at) {  // in chunk passes: twice 1.5p-3.5, 1.5p-2 or 0.5
    const std::int64_t expected = at.p == 2 ? 1 : at.p % 2 == 0 ? 3 * at.p - 7 : 3 * at.p - 4;
    CHECK(makespan_bubble("v-half", at) == expected * at.F);
  });
  over_grid("v-min", 2, full_unit, [](const Case& at) {
    CHECK(makespan_bubble("v-min", at) == (at.p % 3 == 0 ? 4 * at.p - 7 : 4 * at.p - 5) * at.F);
  });
}

TEST_CASE("DualPipe and DualPipeV with pairs in turn") {
  over_grid("dualpipe", 1, unit,
            [](const Case& at) { CHECK(makespan_bubble("dualpipe", at) == (at.p / 2 - 1) * at.F); });
  over_grid("dualpipev", 2, unit, [](const Case& at) { CHECK(makespan_bubble("dualpipev", at) == (at.p - 1) * at.F); });
}

TEST_CASE("DualPipe with pairs as blocks waits (p/2-1)(FB+B-3W) on the ranks with most pairs, as its authors state") {
  for (const std::int64_t pair : {6, 5}) {  // 3 and 2.5 with F = I = W = 1, in halves
    for (const std::int32_t p : {2, 4, 6, 8}) {
      const Schedule schedule = test::generate("dualpipe", {p, 2 * p, 1});
      const test::Timed timed = test::time_schedule(schedule, {2, 2, 2, 0, pair});
      CHECK(timed.makespan - timed.least_busy == (p / 2 - 1) * (pair + 4 - 6));
      const Schedule folded = test::generate("dualpipev", {p, 2 * p, 2});
      const test::Timed chunks = test::time_schedule(folded, {2, 2, 2, 0, pair});
      CHECK(chunks.makespan - chunks.least_busy == (p - 1) * (pair + 4 - 6));
    }
  }
}

TEST_CASE("Chimera with backwards as long as forwards waits (p-2)F; with twice as long, ((4-2/p)m+p-2)F in all") {
  for (const std::int64_t p : {2, 4, 6, 8}) {
    for (std::int64_t m = p; m <= 4 * p; m += p) {
      CHECK(makespan_bubble("chimera", {p, m, 1, 2, 1, 1, 0}) == (p - 2) * 2);
      CHECK(time_case("chimera", {p, m, 1, 1, 1, 1, 0}).makespan == 4 * m - 2 * m / p + p - 2);
    }
  }
}

TEST_CASE("Hanayo with w waves waits (p-1)F/w for backwards as long as forwards") {
  for (const std::int64_t waves : {1, 2, 3}) {
    for (const std::int64_t p : {2, 4, 5, 8}) {
      for (std::int64_t m = p; m <= 3 * p; m += p) {
        // One of 2w chunks takes F/2w, so (p-1)F/w are 2(p-1) of them.
        CHECK(makespan_bubble("hanayo", {p, m, 2 * waves, 2, 1, 1, 0}) == 2 * (p - 1) * 2);
        CHECK(makespan_bubble("hanayo", {p, m, 2 * waves, 1, 1, 1, 0}) == 2 * (p - 1) * (p + m) / p);
      }
    }
  }
}

// What a send between ranks adds to the makespan.

namespace {

/// Added by a send of one tick, for passes of hundreds.
std::int64_t added(const Schedule& schedule, std::int64_t F, std::int64_t I, std::int64_t W) {
  return test::time_schedule(schedule, {F, I, W, 1, -1}).makespan -
         test::time_schedule(schedule, {F, I, W, 0, -1}).makespan;
}
std::int64_t added(const char* name, const PipelineShape& shape, std::int64_t F = 500, std::int64_t I = 700,
                   std::int64_t W = 300) {
  return added(test::generate(name, shape), F, I, W);
}

}  // namespace

TEST_CASE("sends: GPipe and eager 1F1B pay once, 1F1B pays with every micro-batch") {
  for (const std::int32_t p : {2, 3, 4, 8}) {
    for (const std::int32_t rounds : {1, 2, 4}) {
      const std::int32_t m = rounds * p;
      INFO("p=" << p << " m=" << m);
      CHECK(added("naive", {p, m, 1}) == 2 * (p - 1) * m);
      CHECK(added("gpipe", {p, m, 1}) == 2 * (p - 1));
      CHECK(added("eager-1f1b", {p, m, 1}) == 2 * (p - 1));
      CHECK(added("1f1b", {p, m, 1}) == 2 * ((p - 1) * m / p + p - 2));
    }
  }
}

TEST_CASE("sends: interleaving pays for every hop of a micro-batch, larger groups and breadth-first only once") {
  for (const std::int32_t p : {2, 4, 8}) {
    for (const std::int32_t v : {2, 3}) {
      const PipelineShape shape{p, 4 * p, v};
      INFO("p=" << p << " v=" << v);
      const auto with_group = [&](std::int32_t group) {
        ScheduleRequest request;
        request.shape = shape;
        request.group_size = group;
        return find_schedule("interleaved-1f1b")->generate(request);
      };
      CHECK(added(with_group(p), 500, 700, 300) == 2 * (v * p - 1));
      CHECK(added(with_group(2 * p), 500, 700, 300) == 2 * (p - 1));
      CHECK(added(with_group(4 * p), 500, 700, 300) == 2 * (p - 1));
      CHECK(added("looped-bfs", shape) == 2 * (p - 1));
    }
  }
}

TEST_CASE("sends: the handcrafted zero-bubble schedules") {
  for (const std::int32_t p : {2, 4, 8}) {
    for (const std::int32_t rounds : {2, 3, 4}) {
      CHECK(added("zb-h1", {p, rounds * p, 1}) == 4 * (p - 1));
      CHECK(added("zb-h2", {p, rounds * p, 1}, 500, 500, 500) == p - 1);
    }
  }
}

TEST_CASE("1F1B that runs ahead keeps more in flight on every rank but the last, and its bubble stays") {
  for (std::int32_t p = 2; p <= 6; ++p) {
    for (std::int32_t ahead = 0; ahead <= p; ++ahead) {
      const std::int32_t m = 4 * p;
      ScheduleRequest request;
      request.shape = {p, m, 1};
      request.run_ahead = ahead;
      const FamilyEntry& entry = *find_schedule("1f1b");
      REQUIRE(entry.refuse(request).empty());
      const Schedule schedule = entry.generate(request);
      const test::Timed timed = test::time_schedule(schedule, {1, 1, 1, 0, -1});
      CHECK(timed.makespan == m * 3 + (p - 1) * 3);
      const std::vector<std::int64_t> peaks = test::peak_chunks(schedule, false);
      for (std::int32_t r = 0; r < p; ++r) {
        const std::int32_t in_flight = r == p - 1 ? 1 : p - r + ahead;
        CHECK(peaks[static_cast<std::size_t>(r)] == in_flight);
      }
    }
  }
}

TEST_CASE("1F1B that runs ahead hides the way of a message and its gradient") {
  // The gradient of a micro-batch is back 2c + 3 after it was sent, and as long as a pass takes 3, c = 1 leaves gaps.
  ScheduleRequest request;
  request.shape = {2, 32, 1};
  const auto makespan = [&](std::int32_t ahead) {
    request.run_ahead = ahead;
    return test::time_schedule(find_schedule("1f1b")->generate(request), {1, 1, 1, 1, -1}).makespan;
  };
  CHECK(makespan(1) < makespan(0) - 10);
  CHECK(makespan(2) <= makespan(1));
}

TEST_CASE(
    "running further ahead than p is refused with the nearest that is not, and other schedules do not run ahead") {
  ScheduleRequest request;
  request.shape = {4, 16, 1};
  request.run_ahead = 5;
  const Findings findings = find_schedule("1f1b")->refuse(request);
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().nearest == "4");
  CHECK_FALSE(find_schedule("gpipe")->refuse(request).empty());
}
