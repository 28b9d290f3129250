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
  CHECK(records.size() == 851);
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
  CHECK(*records[0].measured.memory_bytes == 2.0 * (1 << 30));
  CHECK(*records[0].measured.step_time_s == 4);
  CHECK(records[0].measured.step_time_derived);
  CHECK(*records[1].measured.memory_bytes == 2e9);
  CHECK_FALSE(records[1].measured.step_time_derived);
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
    CHECK_FALSE(outcome.memory);
    CHECK_FALSE(outcome.oom);
  }
}

TEST_CASE("a file that is no list of records is refused") {
  CHECK_THROWS_AS(read_text("{}"), InputError);
  CHECK_THROWS_AS(read_text("[{]"), InputError);
}
