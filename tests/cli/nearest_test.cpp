// Every nearest value that a refusal names works, or at least is not refused for the same reason again.

#include <catch2/catch.hpp>
#include <cctype>
#include <optional>
#include <random>

#include "base/input_error.hpp"
#include "plan/plan.hpp"
#include "run_program.hpp"
#include "schedule/family.hpp"
#include "spec/scenario.hpp"

using namespace stagecraft;
using Words = std::vector<std::string>;

namespace {

struct Reason {
  std::string code, pointer, nearest;
  bool operator==(const Reason& other) const { return code == other.code && pointer == other.pointer; }
};

const Library& library() {
  static const Library shipped{{STAGECRAFT_SOURCE_DIR "/scenarios", STAGECRAFT_SOURCE_DIR "/topologies"}};
  return shipped;
}

/// Why a scenario of these settings is refused: while it is read, for its layout, or by its schedule.
std::vector<Reason> reasons_against(const Words& overrides, std::int64_t& sequences) {
  std::vector<Reason> reasons;
  Scenario scenario;
  try {
    scenario = load_scenario(shipped("gpt-145b-selene"), overrides, library());
  } catch (const InputError& error) {
    for (const InputProblem& problem : error.problems())
      reasons.push_back({problem.expected, problem.pointer, problem.nearest});
    return reasons;
  }
  sequences = scenario.run.batch.micro * scenario.run.parallel.data;
  const auto add = [&](const Findings& findings) {
    for (const Finding& found : findings) {
      if (found.severity == Severity::error) reasons.push_back({found.code, found.pointer, found.nearest});
    }
  };
  const Findings layout = check_feasible(scenario);
  add(layout);
  const FamilyEntry* const entry = find_schedule(scenario.run.schedule.name);
  if (has_errors(layout) || entry == nullptr) return reasons;
  const Plan plan = make_plan(scenario);
  ScheduleRequest request;
  request.shape = {plan.degrees.pipeline, plan.micro_batches,
                   static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
  request.memory_limit = plan.run.schedule.memory_limit;
  request.waves = static_cast<std::int32_t>(plan.run.schedule.waves);
  if (plan.run.schedule.group_size) request.group_size = static_cast<std::int32_t>(*plan.run.schedule.group_size);
  add(entry->refuse(request));
  return reasons;
}

/// "4 or 8" -> 4, 8; "32 micro-batches" -> 32 times the sequences of one; "\"1f1b\"" -> 1f1b. Words that are no value
/// ("entries that add up to 48") give none.
Words values_in(const std::string& nearest, std::int64_t sequences) {
  constexpr const char* unit = " micro-batches";
  const bool micro_batches = nearest.ends_with(unit);
  std::string rest = micro_batches ? nearest.substr(0, nearest.size() - std::string(unit).size()) : nearest;
  Words values;
  while (!rest.empty()) {
    const std::size_t bar = rest.find(" or ");
    std::string value = rest.substr(0, bar);
    rest = bar == std::string::npos ? "" : rest.substr(bar + 4);
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    if (value.find(' ') != std::string::npos) return {};
    if (micro_batches) value = std::to_string(std::stoll(value) * sequences);
    values.push_back(value);
  }
  return values;
}

std::string text_of(const Words& overrides) {
  std::string text;
  for (const std::string& one : overrides) text += one + " ";
  return text;
}

/// How many suggestions were tried.
std::size_t check_suggestions(const Words& overrides) {
  std::int64_t sequences = 1, ignored = 1;
  std::size_t tried = 0;
  for (const Reason& reason : reasons_against(overrides, sequences)) {
    const bool is_number = !reason.nearest.empty() && std::isdigit(static_cast<unsigned char>(reason.nearest[0])) != 0;
    if (!is_number) continue;
    for (const std::string& value : values_in(reason.nearest, sequences)) {
      Words changed = overrides;
      changed.push_back(reason.pointer + "=" + value);
      const std::vector<Reason> left = reasons_against(changed, ignored);
      INFO(text_of(overrides) << ": " << reason.code << " at " << reason.pointer << ", nearest " << reason.nearest);
      CHECK(std::find(left.begin(), left.end(), reason) == left.end());
      ++tried;
    }
  }
  return tried;
}

}  // namespace

TEST_CASE("the largest batch that is named is one that is played") {
  const std::string scenario = shipped("gpt-145b-selene");
  for (const Words& overrides : {Words{"batch.global=16777200"},
                                 {"batch.global=16777200", "steps=255"},
                                 {"batch.global=8388480", "steps=2"},
                                 {"batch.global=23040", "steps=255"},
                                 {"batch.global=230400", "steps=100"}}) {
    INFO(text_of(overrides));
    std::int64_t sequences = 1;
    const std::vector<Reason> reasons = reasons_against(overrides, sequences);
    REQUIRE(reasons.size() == 1);
    CHECK(reasons.front().code == "scenario-too-large");
    Words changed = overrides;
    changed.push_back(reasons.front().pointer + "=" + reasons.front().nearest);
    CHECK(reasons_against(changed, sequences).empty());
  }
}

TEST_CASE("a nearest value is never refused for the reason that named it") {
  std::mt19937 random(1);
  const auto one_of = [&](const Words& values) { return values[random() % values.size()]; };
  const std::vector<std::pair<const char*, Words>> fields = {
      {"parallel.tensor", {"0", "1", "2", "3", "5", "7", "8", "12", "16", "40", "100", "1000", "5000", "-3"}},
      {"parallel.pipeline",
       {"0", "1", "2", "3", "4", "5", "7", "8", "9", "11", "16", "20", "80", "100", "3000", "9999"}},
      {"parallel.virtual_stages", {"0", "1", "2", "3", "4", "6", "10", "1000", "2000"}},
      {"parallel.data", {"0", "1", "2", "3", "7", "24", "25", "1000", "100000", "2000000"}},
      {"parallel.context", {"0", "1", "2", "3", "7", "64", "3000"}},
      {"parallel.sequence_parallel", {"true", "false"}},
      {"parallel.partition", {"uniform", "parameters"}},
      {"batch.global", {"0", "1", "5", "48", "100", "2304", "2305", "9999", "999999", "16777216", "99999999"}},
      {"batch.micro", {"0", "1", "2", "3", "5", "100"}},
      {"sequence_length", {"0", "1", "7", "100", "2047", "2048", "4096", "99999999"}},
      {"cluster.nodes", {"0", "1", "3", "192", "10000"}},
      {"cluster.gpu", {"A100-SXM4-80GB", "H100-SXM5-80GB"}},
      {"zero_stage", {"0", "1", "2", "3", "-1"}},
      {"precision", {"fp16_mixed", "fp8_mixed", "bf16_pure", "tf32"}},
      {"attention_kernel", {"flash_2", "flash_3", "unfused"}},
      {"steps", {"0", "1", "2", "100", "255", "256"}},
      {"model.attention.kv_heads", {"1", "2", "5", "7", "96"}},
      {"model.blocks", {"1", "7", "48", "80", "81", "5000"}},
  };
  Words schedules;
  for (const FamilyEntry& entry : schedule_family()) schedules.emplace_back(entry.name);
  std::size_t tried = 0;
  for (int i = 0; i < 250; ++i) {
    Words overrides;
    const std::size_t count = 1 + random() % 5;
    for (std::size_t k = 0; k < count; ++k) {
      const auto& [field, values] = fields[random() % fields.size()];
      overrides.push_back(std::string(field) + "=" + one_of(values));
    }
    if (random() % 2 == 0) overrides.push_back("schedule=" + one_of(schedules));
    if (random() % 4 == 0) overrides.push_back("schedule.group_size=" + one_of({"0", "1", "3", "8", "9", "48", "500"}));
    if (random() % 8 == 0) overrides.push_back("schedule.waves=" + one_of({"0", "1", "2", "5", "2000"}));
    if (random() % 8 == 0) overrides.push_back("schedule.memory_limit=" + one_of({"0", "0.5", "3", "8", "1e9"}));
    tried += check_suggestions(overrides);
  }
  CHECK(tried > 170);
}

TEST_CASE("the nearest shape of every schedule is one that it takes") {
  for (const FamilyEntry& entry : schedule_family()) {
    for (const std::int32_t p : {1, 2, 3, 5, 8, 4096, 5000}) {
      for (const std::int32_t m : {1, 2, 3, 7, 8, 64, 100000, 100000000}) {
        for (const std::int32_t v : {1, 2, 3, 1000}) {
          ScheduleRequest request;
          request.shape = {p, m, v};
          for (const Finding& found : entry.refuse(request)) {
            for (const std::string& value : values_in(found.nearest, 1)) {
              if (std::isdigit(static_cast<unsigned char>(value[0])) == 0) continue;
              ScheduleRequest changed = request;
              std::int32_t& field = found.pointer == "/batch/global"        ? changed.shape.micro_batches
                                    : found.pointer == "/parallel/pipeline" ? changed.shape.ranks
                                                                            : changed.shape.chunks;
              field = static_cast<std::int32_t>(std::stoll(value));
              INFO(entry.name << " p=" << p << " m=" << m << " v=" << v << ": " << to_text(found));
              for (const Finding& left : entry.refuse(changed)) {
                CHECK_FALSE((left.code == found.code && left.pointer == found.pointer));
              }
            }
          }
        }
      }
    }
  }
}
