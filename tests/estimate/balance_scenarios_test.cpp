// The partitions "time" and "time_and_memory" of whole scenarios.
#include <catch2/catch.hpp>

#include "base/refusal.hpp"
#include "cost/calibration.hpp"
#include "estimate/balance.hpp"
#include "plan/plan.hpp"

using namespace stagecraft;

namespace {

const Library library{{STAGECRAFT_SOURCE_DIR "/scenarios", STAGECRAFT_SOURCE_DIR "/topologies"}};

Scenario scenario_of(const std::vector<std::string>& overrides) {
  return load_scenario(STAGECRAFT_SOURCE_DIR "/scenarios/gpt-145b-selene.json", overrides, library);
}

std::vector<std::int64_t> balanced(Scenario scenario) {
  balance_partition(scenario, build_topology(scenario.cluster), calibration_of(scenario, library));
  return scenario.run.partition.blocks_per_stage;
}

}  // namespace

TEST_CASE("stages of equal blocks take equal time but for embedding and head") {
  Scenario scenario = scenario_of({"parallel.partition=time"});
  const std::vector<std::int64_t> blocks = balanced(scenario);
  REQUIRE(static_cast<std::int64_t>(blocks.size()) ==
          scenario.run.parallel.pipeline * scenario.run.parallel.virtual_stages);
  std::int64_t sum = 0;
  for (const std::int64_t one : blocks) sum += one;
  CHECK(sum == scenario.model.blocks);
}

TEST_CASE("a large vocabulary takes blocks off the last stage") {
  const std::vector<std::int64_t> blocks =
      balanced(scenario_of({"parallel.partition=time", "model.vocabulary=1000000"}));
  CHECK(blocks.back() < blocks.at(blocks.size() / 2));
}

TEST_CASE("other rules stay as they are") {
  Scenario scenario = scenario_of({});
  balance_partition(scenario, build_topology(scenario.cluster), calibration_of(scenario, library));
  CHECK(scenario.run.partition.rule == PartitionRule::uniform);
}

TEST_CASE("where no cut fits the GPU the partition by time and memory is refused with what would help") {
  Scenario scenario = scenario_of({"parallel.partition=time_and_memory", "batch.micro=8", "recompute=none"});
  try {
    balance_partition(scenario, build_topology(scenario.cluster), calibration_of(scenario, library));
    FAIL("nothing was refused");
  } catch (const Refusal& refusal) {
    CHECK(refusal.findings().front().code == "partition-memory");
    CHECK(refusal.findings().front().nearest == "time");
  }
}
