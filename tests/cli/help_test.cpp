#include <catch2/catch.hpp>

#include "run_program.hpp"

using namespace stagecraft;

TEST_CASE("the help of every verb leads with examples") {
  for (const char* verb :
       {"simulate", "check", "explain", "execute", "profile", "compare", "schedule", "topology", "models", "schema"}) {
    const std::string text = run_program({verb, "--help"}).output;
    INFO(verb);
    const std::size_t examples = text.find("Examples:"), usage = text.find("Usage:");
    REQUIRE(examples != std::string::npos);
    REQUIRE(usage != std::string::npos);
    CHECK(examples < usage);
    CHECK_THAT(run_program({"--help"}).output, Catch::Contains(verb));
  }
}

TEST_CASE("examples of the help that need no scenario work as they stand") {
  CHECK(run_program({"schedule", "--all", "--stages", "8", "--micro-batches", "32"}).exit_code == 0);
  CHECK(run_program({"schedule", "1f1b", "--stages", "4", "--micro-batches", "8"}).exit_code == 0);
  const Outcome csv =
      run_program({"schedule", "zbv", "--stages", "4", "--micro-batches", "8", "--format", "csv", "--communication"});
  CHECK(csv.exit_code == 0);
  CHECK_THAT(csv.output, Catch::Contains("SEND_F"));
  const Outcome svg = run_program({"schedule", "zb-h1", "--stages", "4", "--micro-batches", "8", "--format", "svg"});
  CHECK_THAT(svg.output, Catch::StartsWith("<svg") && Catch::EndsWith("</svg>\n"));
}

TEST_CASE("a schedule printed as CSV or JSON reads back and gives the same text") {
  const Scratch scratch;
  for (const char* format : {"csv", "json"}) {
    const std::string path = scratch.file(std::string("s.") + format);
    REQUIRE(run_program({"schedule", "zb-h1", "-p", "4", "-m", "8", "--format", format, "-o", path}).exit_code == 0);
    const Outcome back = run_program({"schedule", path, "--format", format});
    CHECK(back.exit_code == 0);
    CHECK(back.output == text_of_file(path));
  }
}
