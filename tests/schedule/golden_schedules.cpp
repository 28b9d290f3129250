// Published and independently computed numbers: every row of golden/schedules/golden.json, and the Zero Bubble paper.

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "exact_timer.hpp"
#include "schedule/analyse.hpp"
#include "schedule/family.hpp"

using namespace stagecraft;
using nlohmann::json;

namespace {

/// Ticks per unit of time: makes 1.2, 0.05 and 2.5 whole for one of v chunks.
std::int64_t ticks(const json& time, std::int64_t factor) {
  return std::llround(time.get<double>() * static_cast<double>(factor));
}

std::string name_of(const json& row) {
  const std::string name = row["schedule"];
  const std::string order = row.value("backward_order", "");
  if (name == "gpipe" && order == "descending") return "gpipe-descending";
  if (name == "looped-bfs" && order == "ascending") return "looped-bfs-ascending";
  return name;
}

ScheduleRequest request_of(const json& row, const FamilyEntry& entry) {
  ScheduleRequest request;
  request.shape = {row["p"], row["m"], row["v"]};
  request.times = {{row["F"]}, {row["I"]}, {row["W"]}, row["send"], {}};
  if (entry.option == ScheduleOption::group_size && row.contains("group")) request.group_size = row["group"];
  if (entry.option == ScheduleOption::memory_limit) request.memory_limit = row["limit"];
  if (entry.option == ScheduleOption::waves) request.waves = row["waves"];
  return request;
}

void check_row(const json& row, const Schedule& schedule) {
  const std::int64_t v = row["v"];
  const std::int64_t unit = 20 * v;
  test::TickTimes times{ticks(row["F"], unit) / v, ticks(row["I"], unit) / v, ticks(row["W"], unit) / v,
                        ticks(row["send"], unit)};
  if (row.value("overlap", "") == "block") times.pair = ticks(row["FB"], unit) / v;
  const test::Timed timed = test::time_schedule(schedule, times);
  CHECK(timed.complete);
  CHECK(test::runs_every_pass_once(schedule));
  const auto units = [&](std::int64_t amount) { return static_cast<double>(amount) / static_cast<double>(unit); };
  CHECK(units(timed.makespan) == Approx(row["makespan"].get<double>()).epsilon(0).margin(1e-9));
  if (row.contains("span")) CHECK(units(timed.span) == Approx(row["span"].get<double>()).epsilon(0).margin(1e-9));
  const double rate = 1 - static_cast<double>(timed.most_busy) / static_cast<double>(timed.makespan);
  CHECK(rate == Approx(row["bubble_rate"].get<double>()).epsilon(0).margin(1e-8));
  const auto peaks = test::peak_chunks(schedule, row["freed_at"] == "W");
  REQUIRE(peaks.size() == row["peak_per_rank"].size());
  for (std::size_t r = 0; r < peaks.size(); ++r) {
    CHECK(static_cast<double>(peaks[r]) / static_cast<double>(v) == row["peak_per_rank"][r].get<double>());
  }
}

}  // namespace

TEST_CASE("every schedule has the makespan, span, bubble and memory computed from its published rule") {
  std::ifstream file(STAGECRAFT_SOURCE_DIR "/tests/golden/schedules/golden.json");
  std::size_t checked = 0;
  for (const json& row : json::parse(file)) {
    INFO(row.dump());
    const FamilyEntry* entry = find_schedule(name_of(row));
    REQUIRE(entry != nullptr);
    const ScheduleRequest request = request_of(row, *entry);
    for (const Finding& finding : entry->refuse(request)) FAIL(to_text(finding));
    const Schedule schedule = entry->generate(request);
    CHECK(schedule.name == entry->name);
    check_row(row, schedule);
    ++checked;
  }
  CHECK(checked == 655);
}

// The bubble rates that the authors of Zero Bubble calculated from their profiles (arXiv 2401.10241, tables 4 and 5):
// four models on 8, 16 and 32 A100s.

TEST_CASE("profiled times give the bubble rates of the Zero Bubble paper") {
  std::ifstream file(STAGECRAFT_SOURCE_DIR "/tests/golden/schedules/zero_bubble_profiles.json");
  std::size_t checked = 0;
  for (const json& row : json::parse(file)) {
    INFO(row.dump());
    const FamilyEntry& entry = *find_schedule(row["schedule"].get<std::string>());
    ScheduleRequest request;
    request.shape = {row["p"], row["m"], row["v"]};
    request.times = {{row["F_ms"]}, {row["I_ms"]}, {row["W_ms"]}, row["send_ms"], {}};
    // Activations of a layer: sbh(34 + 5as/h) bytes, of which W needs 32 sbh (section 2.3 of the paper, after arXiv
    // 2205.05198).
    const double hidden = row["hidden"];
    const double kept = 32 * hidden;
    const double all = 34 * hidden + 5 * row["heads"].get<double>() * row["sequence"].get<double>();
    request.kept_until_weight_grad = kept / all;
    REQUIRE(entry.refuse(request).empty());
    const Analysis analysis = analyse(entry.generate(request), request.times);
    // Their bubble is that of the span: the optimizer of one rank need not wait for the others (section 4).
    const double rate = span_bubble_rate(analysis);
    const bool interleaved =
        entry.option == ScheduleOption::group_size;  // 1F1B-I counts p sends less, see docs/schedules.md
    CHECK(rate == Approx(row["bubble"].get<double>()).epsilon(0).margin(interleaved ? 0.004 : 0.00006));
    ++checked;
  }
  CHECK(checked == 48);
}
