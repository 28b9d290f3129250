// What must hold for every schedule of the family, whatever the shape: completeness, memory, order of accumulation.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <numeric>
#include <random>
#include <string_view>

#include "exact_timer.hpp"
#include "family_request.hpp"

using namespace stagecraft;

namespace {

/// The whole numbers in a text: "8 or 12 micro-batches" -> 8, 12.
std::vector<std::int32_t> numbers_in(const std::string& text) {
  std::vector<std::int32_t> numbers;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (!std::isdigit(static_cast<unsigned char>(text[k]))) continue;
    std::size_t used = 0;
    numbers.push_back(std::stoi(text.substr(k), &used));
    k += used;
  }
  return numbers;
}

void set(ScheduleRequest& request, const std::string& pointer, std::int32_t value) {
  if (pointer == "/batch/global") request.shape.micro_batches = value;
  if (pointer == "/parallel/pipeline") request.shape.ranks = value;
  if (pointer == "/parallel/virtual_stages") request.shape.chunks = value;
  if (pointer == "/schedule/group_size") request.group_size = value;
  if (pointer == "/schedule/memory_limit") request.memory_limit = value;
  if (pointer == "/schedule/waves") request.waves = value;
}

}  // namespace

TEST_CASE("every schedule runs every pass exactly once, never waits for itself and never beats m(F+I+W)") {
  for (const FamilyEntry& entry : schedule_family()) {
    std::size_t accepted = 0;
    for (const ScheduleRequest& request : test::requests_of(entry)) {
      if (!test::accepts(entry, request)) continue;
      ++accepted;
      INFO(entry.name << " p=" << request.shape.ranks << " m=" << request.shape.micro_batches
                      << " v=" << request.shape.chunks);
      const Schedule schedule = entry.generate(request);
      REQUIRE(schedule.name == entry.name);
      REQUIRE_FALSE(schedule.lowered);
      REQUIRE(test::runs_every_pass_once(schedule));
      const test::Timed timed = test::time_schedule(schedule, {3, 4, 2, 1, -1});
      REQUIRE(timed.complete);
      REQUIRE(timed.makespan >= 9 * request.shape.micro_batches * request.shape.chunks);
      REQUIRE(timed.makespan >= timed.span);
    }
    CHECK(accepted > 0);
  }
}

TEST_CASE("a schedule that cannot run names the field and a nearest value that it accepts") {
  for (const FamilyEntry& entry : schedule_family()) {
    for (const ScheduleRequest& request : test::requests_of(entry)) {
      const Findings findings = entry.refuse(request);
      for (const Finding& finding : findings) {
        INFO(entry.name << ": " << to_text(finding));
        CHECK(finding.severity == Severity::error);
        CHECK_FALSE(finding.message.empty());
        const auto nearest = numbers_in(finding.nearest);
        CHECK_FALSE(nearest.empty());
        if (findings.size() > 1) continue;
        for (const std::int32_t value : nearest) {
          ScheduleRequest repaired = request;
          set(repaired, finding.pointer, value);
          CHECK(test::accepts(entry, repaired));
        }
      }
    }
  }
}

TEST_CASE("messages per step count every stage boundary between two ranks, both ways") {
  const auto messages = [](const char* name, std::int32_t v) {
    return test::time_schedule(test::generate(name, {4, 8, v}), {1, 1, 1, 0, -1}).messages;
  };
  // 2m(pv-1) for a loop, 4m(p-1) for a V, 4wm(p-1) for w waves, 2m(p-1) for two replicas of a p-stage model.
  CHECK(messages("1f1b", 1) == 2 * 8 * 3);
  CHECK(messages("interleaved-1f1b", 2) == 2 * 8 * 7);
  CHECK(messages("zbv", 2) == 4 * 8 * 3);
  CHECK(messages("hanayo", 4) == 4 * 2 * 8 * 3);
  CHECK(messages("dualpipe", 1) == 2 * 8 * 3);
  CHECK(messages("chimera", 1) == 2 * 8 * 3);
}

// Live activations against the formulas, in chunks (1/v of a micro-batch of a full-depth stage).

namespace {

/// Checks every rank of every accepted shape against `expected(shape, rank)`.
template <class Expected>
void check_peaks(const char* name, bool freed_at_weight_grad, Expected expected) {
  const FamilyEntry& entry = *find_schedule(name);
  for (const ScheduleRequest& request : test::requests_of(entry)) {
    if (!test::accepts(entry, request)) continue;
    const PipelineShape& shape = request.shape;
    const auto peaks = test::peak_chunks(entry.generate(request), freed_at_weight_grad);
    for (std::int32_t r = 0; r < shape.ranks; ++r) {
      INFO(name << " p=" << shape.ranks << " m=" << shape.micro_batches << " v=" << shape.chunks << " rank " << r);
      CHECK(peaks[static_cast<std::size_t>(r)] == expected(shape, r));
    }
  }
}

std::int64_t largest(const std::vector<std::int64_t>& peaks) {
  return *std::max_element(peaks.begin(), peaks.end());
}

}  // namespace

TEST_CASE("memory of the schedules with one chunk per rank") {
  check_peaks("naive", true, [](const PipelineShape&, std::int32_t) { return 1; });
  check_peaks("gpipe", true, [](const PipelineShape& s, std::int32_t) { return s.micro_batches; });
  check_peaks("1f1b", true,
              [](const PipelineShape& s, std::int32_t r) { return std::min(s.micro_batches, s.ranks - r); });
  check_peaks("pipedream", true,
              [](const PipelineShape& s, std::int32_t r) { return std::min(s.micro_batches, s.ranks - r); });
  check_peaks("eager-1f1b", true,
              [](const PipelineShape& s, std::int32_t r) { return std::min(s.micro_batches, 2 * (s.ranks - r) - 1); });
}

TEST_CASE("zero bubble keeps p micro-batches on every rank, or the falling memory of 1F1B if I frees its share") {
  check_peaks("zb-h1", true, [](const PipelineShape& s, std::int32_t) { return std::min(s.micro_batches, s.ranks); });
  check_peaks("zb-h1", false,
              [](const PipelineShape& s, std::int32_t r) { return std::min(s.micro_batches, s.ranks - r); });
  check_peaks("zb-h2", true, [](const PipelineShape& s, std::int32_t) { return 2 * s.ranks - 1; });
  check_peaks("zb-h2", false, [](const PipelineShape& s, std::int32_t r) { return 2 * (s.ranks - r) - 1; });
}

TEST_CASE("memory of the interleaved schedules, for groups of any size") {
  check_peaks("interleaved-1f1b", true, [](const PipelineShape& s, std::int32_t r) {
    const std::int32_t g = s.micro_batches / std::max(1, s.micro_batches / s.ranks);
    return std::min(s.micro_batches * s.chunks, (s.chunks - 1) * g + 2 * (s.ranks - 1 - r) + 1);
  });
  check_peaks("interleaved-zb", true, [](const PipelineShape& s, std::int32_t) {
    const std::int32_t g = s.micro_batches / std::max(1, s.micro_batches / s.ranks);
    return std::min(s.micro_batches * s.chunks, (s.chunks - 1) * g + s.ranks);
  });
  check_peaks("looped-bfs", true, [](const PipelineShape& s, std::int32_t) { return s.micro_batches * s.chunks; });
}

TEST_CASE("the searched schedules keep within their limit") {
  for (const char* name : {"zb-auto", "zbv-auto"}) {
    const FamilyEntry& entry = *find_schedule(name);
    for (ScheduleRequest request : test::requests_of(entry)) {
      for (const std::int32_t limit : {1, 2, request.shape.ranks, request.shape.ranks + 2, 2 * request.shape.ranks}) {
        request.memory_limit = limit;
        if (!test::accepts(entry, request)) continue;
        INFO(name << " p=" << request.shape.ranks << " m=" << request.shape.micro_batches << " limit " << limit);
        const Schedule schedule = entry.generate(request);
        REQUIRE(test::runs_every_pass_once(schedule));
        REQUIRE(test::time_schedule(schedule, {1, 1, 1, 0, -1}).complete);
        REQUIRE(largest(test::peak_chunks(schedule, true)) <= limit * request.shape.chunks);
      }
    }
  }
}

TEST_CASE(
    "the searched schedules are complete and within their limit for any times, stage by stage, and any share that W "
    "frees") {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::int32_t>(random() % limit); };
  for (std::int32_t k = 0; k < 2000; ++k) {
    for (const char* name : {"zb-auto", "zbv-auto"}) {
      const FamilyEntry& entry = *find_schedule(name);
      ScheduleRequest request;
      request.shape = {1 + below(9), 1 + below(24), usual_chunks(entry)};
      const std::int32_t least = request.shape.chunks == 2 ? request.shape.ranks : 1;
      request.memory_limit = least + below(8);
      request.kept_until_weight_grad = below(5) / 4.0;
      const auto stages = static_cast<std::size_t>(request.shape.ranks * request.shape.chunks);
      for (auto* times : {&request.times.forward, &request.times.input_grad, &request.times.weight_grad}) {
        while (times->size() < stages) times->push_back(below(12));
      }
      request.times.send = below(6);
      INFO(name << " p=" << request.shape.ranks << " m=" << request.shape.micro_batches << " case " << k);
      REQUIRE(test::accepts(entry, request));
      const Schedule schedule = entry.generate(request);
      REQUIRE(test::runs_every_pass_once(schedule));
      REQUIRE(test::time_schedule(schedule, {1, 1, 1, 0, -1}).complete);
      if (request.kept_until_weight_grad > 0 && request.kept_until_weight_grad < 1) continue;
      const auto peaks = test::peak_chunks(schedule, request.kept_until_weight_grad > 0);
      REQUIRE(static_cast<double>(largest(peaks)) <= *request.memory_limit * request.shape.chunks);
    }
  }
}

TEST_CASE("V-shaped schedules from 2p-1 micro-batches on: p for ZBV, (p+2)/2 for V-half, (p+4)/3 for V-min") {
  for (const std::int32_t p : {2, 3, 4, 5, 6, 7, 8, 11, 12}) {
    for (const std::int32_t m : {2 * p - 1, 2 * p, 4 * p}) {
      INFO("p=" << p << " m=" << m);
      CHECK(largest(test::peak_chunks(test::generate("zbv", {p, m, 2}), true)) == 2 * p);
      CHECK(largest(test::peak_chunks(test::generate("v-half", {p, m, 2}), true)) == 2 * ((p + 2) / 2));
      CHECK(largest(test::peak_chunks(test::generate("v-min", {p, m, 2}), true)) == 2 * ((p + 4) / 3));
      CHECK(largest(test::peak_chunks(test::generate("v-half-primus", {p, m, 2}), true)) <= 2 * ((p + 2) / 2));
      CHECK(largest(test::peak_chunks(test::generate("v-min-primus", {p, m, 2}), true)) <= 2 * ((p + 4) / 3));
    }
  }
}

TEST_CASE("bidirectional and wave schedules") {
  check_peaks("dualpipe", true, [](const PipelineShape& s, std::int32_t) { return s.ranks + 1; });
  check_peaks("dualpipev", true, [](const PipelineShape& s, std::int32_t) { return 2 * s.ranks + 1; });
  for (const std::int32_t p : {2, 4, 6, 8}) {
    const auto peaks = test::peak_chunks(test::generate("chimera", {p, 3 * p, 1}), true);
    for (std::int32_t r = 0; r < p; ++r)
      CHECK(peaks[static_cast<std::size_t>(r)] == p / 2 + 1 + std::min(r, p - 1 - r));
  }
  for (const std::int32_t waves : {1, 2}) {
    CHECK(largest(test::peak_chunks(test::generate("hanayo", {4, 16, 2 * waves}), true)) <= 4 * 2 * waves);
  }
}

// The order in which a stage adds the micro-batches' weight gradients decides the bits of the sum.

namespace {

std::vector<std::int32_t> rising(std::int32_t first, std::int32_t count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), first);
  return order;
}

}  // namespace

TEST_CASE("every stage adds its micro-batches in rising order, except where the schedule says falling") {
  for (const FamilyEntry& entry : schedule_family()) {
    const std::string_view name = entry.name;
    for (const ScheduleRequest& request : test::requests_of(entry)) {
      if (!test::accepts(entry, request)) continue;
      const Schedule schedule = entry.generate(request);
      if (schedule.placement.size() > 1) continue;
      auto expected = rising(0, request.shape.micro_batches);
      if (name == "gpipe-descending" || name == "looped-bfs") expected = {expected.rbegin(), expected.rend()};
      for (std::int32_t s = 0; s < stage_count(schedule); ++s) {
        INFO(name << " p=" << request.shape.ranks << " m=" << request.shape.micro_batches << " stage " << s);
        REQUIRE(test::accumulation_order(schedule, s, 0) == expected);
      }
    }
  }
}

TEST_CASE("DualPipe gives the first half of the micro-batches to one copy of a stage and the rest to the other") {
  const Schedule schedule = test::generate("dualpipe", {4, 10, 1});
  for (std::int32_t s = 0; s < 4; ++s) {
    CHECK(test::accumulation_order(schedule, s, 0) == rising(0, 5));
    CHECK(test::accumulation_order(schedule, s, 1) == rising(5, 5));
  }
}

TEST_CASE("Chimera gives the first half of each unit of p micro-batches to one copy and the rest to the other") {
  const Schedule schedule = test::generate("chimera", {4, 8, 1});
  for (std::int32_t s = 0; s < 4; ++s) {
    CHECK(test::accumulation_order(schedule, s, 0) == std::vector<std::int32_t>{0, 1, 4, 5});
    CHECK(test::accumulation_order(schedule, s, 1) == std::vector<std::int32_t>{2, 3, 6, 7});
  }
}
