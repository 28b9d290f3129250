// A table of command lines: what they end with and what they say.

#include <catch2/catch.hpp>

#include "run_program.hpp"

using namespace stagecraft;

namespace {

struct Row {
  std::vector<std::string> words;
  int exit_code;
  const char* messages_contain;  // "" where nothing is said
};

void check(const Row& row) {
  std::string shown;
  for (const std::string& word : row.words) shown += word + " ";
  INFO("stagecraft " << shown);
  const Outcome outcome = run_program(row.words);
  CHECK(outcome.exit_code == row.exit_code);
  CHECK_THAT(outcome.messages, Catch::Contains(row.messages_contain));
  const bool failed = row.exit_code >= 1 && row.exit_code <= 3;
  CHECK(outcome.output.empty() == failed);
  if (!failed) CHECK(outcome.messages.empty());
}

}  // namespace

TEST_CASE("a command line that makes no sense ends with 2 and says what was meant") {
  for (const Row& row :
       std::vector<Row>{{{}, 2, "no verb"},
                        {{"simulat"}, 2, "did you mean simulate"},
                        {{"simulate"}, 2, "FILE is required"},
                        {{"simulate", shipped("gpt-1.7b-selene"), "--estimat"}, 2, "did you mean --estimate"},
                        {{"simulate", shipped("gpt-1.7b-selene"), "--format", "xml"}, 2, "xml"},
                        {{"simulate", "a.json", "b.json"}, 2, "b.json"},
                        {{"topology", "show"}, 2, "which one"},
                        {{"models", "list", "gpt"}, 2, "models show gpt"},
                        {{"schedule", "1f1b"}, 2, "--stages and --micro-batches"},
                        {{"schedule", "1f1b", "--all", "-p", "2", "-m", "2"}, 2, "one NAME, or --all"},
                        {{"schedule", "1f1b", "-p", "2", "-m", "2", "--forward", "nan"}, 2, "--forward"},
                        {{"schedule", "1f1b", "-p", "2", "-m", "2", "--communication"}, 2, "csv and json"},
                        {{"schedule", "1f1b", "-p", "99999999999", "-m", "2"}, 2, "stages"}}) {
    check(row);
  }
}

TEST_CASE("input that is malformed, unknown or cannot work ends with 3 and names the place") {
  const Scratch scratch;
  const std::string base = shipped("gpt-1.7b-selene");
  const std::string broken = scratch.write("broken.json", "{\"model\": ");
  const std::string unknown = scratch.write("unknown.json", "{\"extends\": \"" + base + "\", \"paralel\": {}}");
  const std::string loop = scratch.write("loop.json", "{\"extends\": \"loop.json\"}");
  for (const Row& row : std::vector<Row>{
           {{"simulate", "/nowhere/none.json", "--estimate"}, 3, "/nowhere/none.json"},
           {{"simulate", broken, "--estimate"}, 3, "broken.json"},
           {{"simulate", unknown, "--estimate"}, 3, "paralel"},
           {{"simulate", loop, "--estimate"}, 3, "loop.json"},
           {{"simulate", base, "--estimate", "--set", "parallel.tensor=zero"}, 3, "tensor"},
           {{"simulate", base, "--estimate", "--set", "parallel.tensor=0"}, 3, "tensor"},
           {{"simulate", base, "--estimate", "--set", "parallel.tensor=7"}, 3, "nearest"},
           {{"simulate", base, "--estimate", "--set", "parallel.tensor"}, 3, "parallel.tensor"},
           {{"simulate", base, "--estimate", "--set", "batch.global=99999999999999999999"}, 3, "batch"},
           {{"simulate", base, "--estimate", "--set", "schedule=1f2b"}, 3, "1f1b"},
           {{"simulate", base, "--estimate", "--steps", "0"}, 3, "steps"},
           {{"simulate", base, "--estimate", "--steps", "1000000"}, 3, "steps"},
           {{"simulate", base, "--estimate", "--set", "calibration=none-such"}, 3, "none-such"},
           {{"simulate", base, "--estimate", "--output", "/nowhere/report.txt"}, 3, "/nowhere/report.txt"},
           {{"simulate", base, "--estimate", "--trace", "/nowhere/step.json"}, 3, "/nowhere/step.json"},
           {{"simulate", base, "--estimate", "--trace", "/dev/full"}, 3, "/dev/full"},
           {{"simulate", base, "--estimate", "--set", "batch.micro=1", "--set", "batch.global=16777216", "--steps",
             "255"},
            3,
            "scenario-too-large"},
           {{"explain", "mfuu"}, 3, "mfu"},
           {{"schema", "scenari"}, 3, "scenario"},
           {{"schedule", "1f1b", "-p", "2", "-m", "6", "--flushes", "4"}, 3, "nearest"},
           {{"validate", STAGECRAFT_SOURCE_DIR "/scenarios/records/published.json", "--calibration", "none-such"},
            3,
            "none-such"},
           {{"topology", "show", "selen"}, 3, "selene"},
           {{"models", "show", "gpt-145c"}, 3, "gpt-145b"},
           {{"schedule", "zb-h3", "-p", "2", "-m", "2"}, 3, "zb-h"},
           {{"schedule", "1f1b", "-p", "0", "-m", "2"}, 3, "nearest"},
           {{"schedule", "interleaved-1f1b", "-p", "4", "-m", "7", "-v", "2", "--group-size", "3"}, 3, "group"},
           {{"schedule", scratch.write("bad.csv", "0F0,0X0\n")}, 3, "0X0"}}) {
    check(row);
  }
}

TEST_CASE("what works ends with 0 and says nothing on standard error") {
  const std::string scenario = shipped("gpt-1.7b-selene");
  for (const Row& row : std::vector<Row>{{{"--help"}, 0, ""},
                                         {{"--version"}, 0, ""},
                                         {{"simulate", "--help"}, 0, ""},
                                         {{"simulate", scenario, "--estimate"}, 0, ""},
                                         {{"check", scenario}, 0, ""},
                                         {{"explain"}, 0, ""},
                                         {{"explain", "mfu"}, 0, ""},
                                         {{"explain", "mfu", scenario, "--estimate"}, 0, ""},
                                         {{"explain", "kernels", scenario}, 0, ""},
                                         {{"explain", "kernels", scenario, "--rank", "0", "--format", "csv"}, 0, ""},
                                         {{"schedule", "--list"}, 0, ""},
                                         {{"schedule", "1f1b", "-p", "2", "-m", "6", "--flushes", "3"}, 0, ""},
                                         {{"schedule", "1f1b", "-p", "2", "-m", "3"}, 0, ""},
                                         {{"topology"}, 0, ""},
                                         {{"topology", "show", "selene"}, 0, ""},
                                         {{"models"}, 0, ""},
                                         {{"models", "show", "gpt-145b"}, 0, ""},
                                         {{"schema"}, 0, ""},
                                         {{"schema", "report"}, 0, ""},
                                         {{"schema", "scenario"}, 0, ""}}) {
    check(row);
  }
}

TEST_CASE("a scenario that does not fit in memory ends with 4 and is reported all the same") {
  const std::vector<std::string> words = {
      "simulate", shipped("gpt-1.7b-selene"), "--estimate", "--set", "recompute=none", "--set", "batch.micro=16"};
  const Outcome outcome = run_program(words);
  CHECK(outcome.exit_code == 4);
  CHECK_THAT(outcome.output, Catch::Contains("DOES NOT FIT") && Catch::Contains("step time"));
  std::vector<std::string> check_words = words;
  check_words[0] = "check";
  check_words.erase(check_words.begin() + 2);
  CHECK(run_program(check_words).exit_code == 4);
}

TEST_CASE("check lists every reason on standard output and ends with 3") {
  const Outcome outcome =
      run_program({"check", shipped("gpt-145b-selene"), "--set", "parallel.tensor=7", "--set", "batch.micro=5"});
  CHECK(outcome.exit_code == 3);
  CHECK_THAT(outcome.output, Catch::Contains("cannot run"));
  CHECK(outcome.messages.empty());
}
