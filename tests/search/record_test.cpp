// What a search keeps of its candidates, as lines.

#include <catch2/catch.hpp>
#include <sstream>

#include "base/input_error.hpp"
#include "search/search_record.hpp"

using namespace stagecraft;

TEST_CASE("what a search found out reads back to the bit", "[search]") {
  SearchRecord record;
  Judgement& runs = record.judged[3];
  runs.bound_s = 0.1 + 0.2;
  runs.peak_memory_bytes = 1.0 / 3 * 1e11;
  runs.memory_limit_bytes = 8.5e10;
  runs.fits = true;
  runs.tokens = 2.5e6;
  runs.model_flops = 1e300;
  runs.hardware_flops = 4.9e-324;
  runs.peak_flops = 3.12e14;
  record.judged[4].reason = "7 does not \"divide\"\n8";
  record.closed_form_s[3] = 1.0 / 7;
  record.simulated_s[3] = 2.0 / 7;

  SearchRecord back;
  std::istringstream lines(record_lines(record));
  for (std::string line; std::getline(lines, line);) read_record_line(line, "test", back);
  REQUIRE(back.judged.size() == 2);
  CHECK(back.judged[3].bound_s == runs.bound_s);
  CHECK(back.judged[3].peak_memory_bytes == runs.peak_memory_bytes);
  CHECK(back.judged[3].memory_limit_bytes == runs.memory_limit_bytes);
  CHECK(back.judged[3].fits);
  CHECK(back.judged[3].tokens == runs.tokens);
  CHECK(back.judged[3].model_flops == runs.model_flops);
  CHECK(back.judged[3].hardware_flops == runs.hardware_flops);
  CHECK(back.judged[3].peak_flops == runs.peak_flops);
  CHECK(back.judged[4].reason == record.judged[4].reason);
  CHECK(back.closed_form_s == record.closed_form_s);
  CHECK(back.simulated_s == record.simulated_s);
  CHECK(record_lines(back) == record_lines(record));
}

TEST_CASE("a line that no search writes is refused", "[search]") {
  for (const char* const line :
       {"", "no line", "{}", "[1]", R"({"candidate": 1})", R"({"candidate": "1", "simulated_s": 1})",
        R"({"candidate": 1, "simulated_s": null})", R"({"candidate": 1, "fits": true, "judged": [1, 2]})"}) {
    CAPTURE(line);
    SearchRecord record;
    CHECK_THROWS_AS(read_record_line(line, "test", record), InputError);
  }
}
