// Gradient accumulation around a pipeline: it drains behind every group of micro-batches.
#include <catch2/catch.hpp>

#include "schedule/analyse.hpp"
#include "schedule/check.hpp"
#include "schedule/flushes.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

ScheduleRequest request(std::int32_t ranks, std::int32_t micro_batches, std::int32_t flushes, std::int32_t chunks = 1) {
  ScheduleRequest request;
  request.shape = {ranks, micro_batches, chunks};
  request.flushes = flushes;
  return request;
}

Schedule of(const char* name, const ScheduleRequest& asked) {
  const FamilyEntry& entry = *find_schedule(name);
  REQUIRE(refuse_with_flushes(entry, asked).empty());
  return generate_with_flushes(entry, asked);
}

Finding refused(const char* name, const ScheduleRequest& asked) {
  const Findings findings = refuse_with_flushes(*find_schedule(name), asked);
  REQUIRE(findings.size() == 1);
  return findings.front();
}

}  // namespace

TEST_CASE("every flush costs a pipeline as many slots as it takes to fill and drain it") {
  // F = 1, B = 2: a group of g micro-batches on p ranks takes (g + p - 1) (F + B).
  for (const std::int32_t ranks : {2, 4}) {
    for (const std::int32_t flushes : {1, 2, 8}) {
      CAPTURE(ranks, flushes);
      const Schedule schedule = of("1f1b", request(ranks, 32, flushes));
      CHECK(analyse(schedule, {}).makespan == Approx(3.0 * (32 + flushes * (ranks - 1))));
    }
  }
}

TEST_CASE("flushes keep every micro-batch once and in order, in any schedule that drains") {
  for (const char* name : {"1f1b", "gpipe", "zb-h1"}) {
    CAPTURE(name);
    const Schedule schedule = of(name, request(4, 24, 3));
    CHECK(schedule.shape.micro_batches == 24);
    CHECK(check_schedule(assign_safe_channels(add_send_receive(schedule, ReceivePlacement::at_sender))).empty());
  }
  const Schedule interleaved = of("interleaved-1f1b", request(4, 24, 3, 2));
  CHECK(check_schedule(assign_safe_channels(add_send_receive(interleaved, ReceivePlacement::at_sender))).empty());
}

TEST_CASE("one flush is the schedule itself") {
  const FamilyEntry& entry = *find_schedule("1f1b");
  const Schedule plain = entry.generate(request(4, 8, 1)), once = generate_with_flushes(entry, request(4, 8, 1));
  REQUIRE(plain.programs.size() == once.programs.size());
  for (std::size_t rank = 0; rank < plain.programs.size(); ++rank) {
    REQUIRE(plain.programs[rank].size() == once.programs[rank].size());
    for (std::size_t i = 0; i < plain.programs[rank].size(); ++i) {
      CHECK(to_text(plain.programs[rank][i]) == to_text(once.programs[rank][i]));
    }
  }
}

TEST_CASE("groups that are not equal, and a schedule that never drains, are refused") {
  const Finding unequal = refused("1f1b", request(4, 24, 7));
  CHECK(unequal.pointer == "/schedule/flushes");
  CHECK(unequal.nearest == "6");
  CHECK(refused("1f1b", request(4, 6, 100)).nearest == "6");
  CHECK(refused("pipedream", request(4, 24, 2)).pointer == "/schedule/flushes");
  // What a schedule asks of its micro-batches it asks of a group.
  CHECK(refuse_with_flushes(*find_schedule("dualpipe"), request(4, 24, 3)).empty());
  CHECK_FALSE(refuse_with_flushes(*find_schedule("dualpipe"), request(4, 24, 12)).empty());
}
