#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/input_error.hpp"
#include "validate/validate.hpp"

using namespace stagecraft;

namespace {

const std::string source_dir = STAGECRAFT_SOURCE_DIR;

std::vector<Record> read_text(const std::string& text) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("stagecraft-records-" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << text;
  const std::vector<Record> records = read_records(path);
  std::filesystem::remove(path);
  return records;
}

}  // namespace

TEST_CASE("every shipped record is read without a problem") {
  const std::vector<Record> records = read_records(source_dir + "/scenarios/records/published.json");
  CHECK(records.size() == 951);
  for (const Record& record : records) {
    INFO(record.id);
    CHECK(record.problems.empty());
    CHECK_FALSE(record.cite.empty());
  }
}

TEST_CASE("units of memory and derived step times are understood") {
  const auto records = read_text(
      R"json([{"id": "a", "measured": {"memory_gb": 2, "memory_unit": "GiB (printed as GB)"}, "derived": {
  "step_time_s" : 4
}
},
          {"id": "b", "measured": {"memory_gb": 2, "memory_unit": "GB, rounded", "step_time_s": 1}}])json");
  REQUIRE(records[0].measured.memory.size() == 1);
  CHECK(records[0].measured.memory[0].bytes == 2.0 * (1 << 30));
  CHECK(*records[0].measured.step_time_s == 4);
  CHECK(records[0].measured.step_time_derived);
  CHECK(records[1].measured.memory.at(0).bytes == 2e9);
  CHECK_FALSE(records[1].measured.step_time_derived);
}

TEST_CASE("a reading of every stage or rank counts, of the kind and rank that the record names") {
  const auto records = read_text(
      R"json([{"id": "a", "measured": {"memory_gb": 9, "memory_by_stage": {"first": {"max_allocated_mib": 3}, "last": {"max_allocated_mib": 2}}}},
          {"id": "b", "parallel": {"pp": 2}, "measured": {"memory_by_rank_mib": {"0": [4, 5], "1": [5, 6], "2": [1, 2], "3": [2, 3]}}},
          {"id": "c", "measured": {"memory_gb": 2, "memory_unit": "GB, rounded", "memory_kind": "nvidia-smi"}}])json");
  const auto bytes = [&](std::size_t record, std::size_t reading) {
    return records[record].measured.memory.at(reading).bytes / 1048576;
  };
  CHECK(bytes(0, 0) == 3);
  CHECK(records[0].measured.memory.at(1).rank == MemoryOf::last);
  CHECK(bytes(1, 0) == 5);  // the larger of the first stage's two ranks
  CHECK(bytes(1, 1) == 2);
  CHECK(records[2].measured.memory.at(0).kind == MemoryReading::device);
  CHECK(bytes(2, 0) == 2048);  // nvidia-smi counts in MiB
}

TEST_CASE("hostile records are kept with their problems and are never compared") {
  const auto records = read_text(
      R"json([1, null, {}, {"id": 7}, {"id": "x", "gpus": "many"}, {"id": "x", "gpus": 1e300, "model": []},
          {"id": "y", "gpus": -1}, {"id": "z", "gpus": 8.5, "measured": {"stage_fwd_us": ["a", {}]}},
          {"id": "w", "gpus": 8, "gpu": {"type": "A100"}, "model": {"layers": 1099511627776, "hidden": 1099511627776,
           "heads": 1, "seq": 1099511627776}, "parallel": {"pp": 1048576, "vpp": 1048576}, "batch": {"global": 1099511627776},
           "measured": {"step_time_s": 1}}])json");
  const Library library{{source_dir + "/scenarios", source_dir + "/topologies"}};
  const Validation validation = validate(records, library);
  REQUIRE(validation.outcomes.size() == 9);
  for (const Outcome& outcome : validation.outcomes) {
    INFO(outcome.record.id);
    CHECK_FALSE(outcome.skipped.empty());
    CHECK_FALSE(outcome.step_time);
    CHECK(outcome.memory.empty());
    CHECK_FALSE(outcome.oom);
  }
}

TEST_CASE("a file that is no list of records is refused") {
  CHECK_THROWS_AS(read_text("{}"), InputError);
  CHECK_THROWS_AS(read_text("[{]"), InputError);
}
