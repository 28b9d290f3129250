#include "report/formats.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "report/number_text.hpp"
#include "sample_report.hpp"

using namespace stagecraft;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("the text report fits a terminal of 100 columns") {
  Report report = sample_report();
  report.description =
      "many words that go on and on, " + report.run.model + ", for longer than one line of a terminal can ever hold.";
  for (const std::string& line : lines_of(to_text(report, false))) {
    INFO(line);
    CHECK(columns_of(line) <= 100);
  }
}

TEST_CASE(
    "the text report tells headline figures, breakdown, memory, published figures, defaults, calibration and "
    "findings") {
  const std::string text = to_text(sample_report(), false);
  for (const char* part : {"step time", "1.000 s", "900.0 ms to 1.200 s, fitted", "MFU", "bubble",
                           "60.0 GiB of 80.0 GiB", "Where the step goes", "Memory at the peak", "Published", "-6.3 %",
                           "Chosen because", "/overlap/pipeline = true", "a100+megatron", "outside its measured range",
                           "k = 64 is below 128", "some-code"}) {
    CHECK_THAT(text, Catch::Contains(part));
  }
}

TEST_CASE("colour adds escape sequences and nothing else") {
  std::string coloured = to_text(sample_report(), true);
  REQUIRE(coloured.find('\x1b') != std::string::npos);
  for (std::size_t at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b')) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  CHECK(coloured == to_text(sample_report(), false));
}

TEST_CASE("a report that does not fit says so and names the rank") {
  Report report = sample_report();
  report.fits = report.stages[1].fits = false;
  const std::string text = to_text(report, false);
  CHECK_THAT(text, Catch::Contains("DOES NOT FIT") && Catch::Contains("over the limit"));
  CHECK_THAT(to_markdown(report), Catch::Contains("**no**"));
}

TEST_CASE("CSV has two columns, quotes what needs it, and holds every figure") {
  const std::string text = to_csv(sample_report());
  CHECK(lines_of(text).front() == "key,value");
  CHECK_THAT(text, Catch::Contains("\nstep_time_s,1.0\n") && Catch::Contains("\nstages.1.peak_op,0F1\n"));
  CHECK_THAT(text, Catch::Contains("scenario.description,\"Two stages, \"\"quoted\"\", with commas.\"\n"));
}

TEST_CASE("Markdown escapes the bar that would end a cell") {
  Report report = sample_report();
  report.published[0].source = "a|b";
  CHECK_THAT(to_markdown(report), Catch::Contains("a\\|b"));
}

TEST_CASE("numbers are written as people read them") {
  CHECK(grouped(264113.4) == "264,113");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(grouped(12.34) == "12.3");
  CHECK(duration(17.917) == "17.92 s");
  CHECK(duration(0.431) == "431.0 ms");
  CHECK(duration(0) == "0 us");
  CHECK(count_of_parameters(145.6e9) == "145.6B");
  CHECK(count_of_parameters(1.008e12) == "1.01T");
  CHECK(bar(0.5, 8) == "████");
  CHECK(bar(2, 2) == "██");
  CHECK(columns_of(bar(0.7, 10)) == 7);
  CHECK(wrapped("aa bb cc", 5, 2) == "aa bb\n  cc");
}
