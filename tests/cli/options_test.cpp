// Options: numbers that are none, options that would do nothing, files that are read and may not be written.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "run_program.hpp"

using namespace stagecraft;
using Catch::Contains;
using Words = std::vector<std::string>;

namespace {

Words plus(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("no numeric option takes what is no number, not finite, negative or too large") {
  const Scratch scratch;
  const std::string scenario = shipped("gpt-1.7b-selene"), trace = scratch.file("t.sgt");
  REQUIRE(run_program({"simulate", scenario, "--estimate", "--trace", trace}).exit_code == 0);
  const Words schedule{"schedule", "zb-auto", "-p", "2", "-m", "4"};
  const std::string tiny = shipped("tiny-gpt-2cores");
  struct Row {
    Words words;
    const char* option;
  };
  for (const Row& row : {Row{{"compare", trace, trace}, "--step"},
                         Row{{"compare", trace, trace}, "--bubble"},
                         Row{{"compare", trace, trace}, "--memory"},
                         Row{{"simulate", scenario, "--estimate"}, "--steps"},
                         Row{{"schedule", "1f1b", "-m", "4"}, "--stages"},
                         Row{{"schedule", "1f1b", "-p", "4"}, "--micro-batches"},
                         Row{{"schedule", "looped-bfs", "-p", "4", "-m", "4"}, "--virtual"},
                         Row{{"schedule", "interleaved-1f1b", "-p", "4", "-m", "4"}, "--group-size"},
                         Row{{"schedule", "hanayo", "-p", "4", "-m", "4"}, "--waves"},
                         Row{schedule, "--memory-limit"},
                         Row{schedule, "--forward"},
                         Row{schedule, "--input-grad"},
                         Row{schedule, "--weight-grad"},
                         Row{schedule, "--send"},
                         Row{{"execute", tiny}, "--steps"},
                         Row{{"execute", tiny}, "--warmup"},
                         Row{{"execute", tiny}, "--seed"},
                         Row{{"execute", tiny}, "--learning-rate"},
                         Row{{"execute", tiny}, "--weight-decay"},
                         Row{{"execute", tiny}, "--clip-norm"},
                         Row{{"execute", tiny}, "--timeout"},
                         Row{{"profile", tiny, "--output", "x"}, "--repetitions"},
                         Row{{"bundle", tiny, "--output", "x"}, "--steps"},
                         Row{{"bundle", tiny, "--output", "x"}, "--warmup"}}) {
    for (const char* value : {"nan", "-nan", "inf", "-inf", "-1", "1e999", "1e30", "99999999999999999999", "x", "1x",
                              "0x", "", " ", "--", "1,5", "\xff"}) {
      INFO(row.words[0] << " " << row.option << " \"" << value << "\"");
      const Outcome outcome = run_program(plus(row.words, {row.option, value}));
      CHECK((outcome.exit_code == 2 || outcome.exit_code == 3));
      CHECK(outcome.output.empty());
      CHECK(outcome.messages.size() < 2000);
    }
  }
}

TEST_CASE("a tolerance is held against something, or refused") {
  const Scratch scratch;
  const std::string a = scratch.file("a.sgt"), b = scratch.file("b.sgt");
  REQUIRE(run_program({"simulate", shipped("gpt-1.7b-selene"), "--estimate", "--trace", a}).exit_code == 0);
  REQUIRE(run_program({"simulate", shipped("gpt-145b-selene"), "--estimate", "--trace", b}).exit_code == 0);
  CHECK(run_program({"compare", a, a, "--step", "0", "--bubble", "0", "--memory", "0"}).exit_code == 0);
  CHECK(run_program({"compare", a, b, "--step", "0.01"}).exit_code == 5);
}

TEST_CASE("options that would change nothing are refused") {
  const Scratch scratch;
  const std::string scenario = shipped("gpt-1.7b-selene");
  const std::string table = scratch.write("t.csv", "0F0,0B0\n");
  const Words one{"schedule", "1f1b", "-p", "2", "-m", "2"};
  for (const Words& words : {Words{"schedule", "--list", "-p", "4"},
                             {"schedule", "--list", "--all"},
                             {"schedule", "--list", "1f1b"},
                             {"schedule", "--list", "--format", "json"},
                             {"schedule", table, "-p", "2"},
                             {"schedule", table, "--format", "csv", "--send", "1"},
                             plus(one, {"--format", "csv", "--forward", "2"}),
                             plus(one, {"--format", "json", "--weight-grad", "2"}),
                             {"explain", "mfu", "--estimate"},
                             {"explain", "--set", "steps=2"},
                             {"explain", "kernels"},
                             {"explain", "kernels", scenario, "--estimate"},
                             {"explain", "kernels", scenario, "--rank", "9"},
                             {"explain", "mfu", scenario, "--rank", "0"},
                             {"explain", "groups", scenario, "--format", "csv"},
                             {"schema", "--format", "md"},
                             {"simulate", scenario, "--steps", "2", "--set", "steps=3"},
                             {"simulate", scenario, "--steps", "2", "--set", "/steps=3"},
                             {"topology", "list", "selene"},
                             {"models", "list", "gpt-145b"}}) {
    std::string shown;
    for (const std::string& word : words) shown += word + " ";
    INFO(shown);
    const Outcome outcome = run_program(words);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.output.empty());
  }
  CHECK(run_program({"schedule", "zb-auto", "-p", "2", "-m", "2", "--format", "csv", "--forward", "2"}).exit_code == 0);
  CHECK(run_program({"schedule", "--list", "-o", scratch.file("list")}).exit_code == 0);
}

TEST_CASE("what is not expected gets a suggestion, what is incomplete does not") {
  const std::string scenario = shipped("gpt-1.7b-selene");
  CHECK_THAT(run_program({"simulate", scenario, "--formt", "json"}).messages, Contains("did you mean --format?"));
  for (const Words& words : {Words{"simulate", scenario, "--format"},
                             {"simulate", scenario, "--set"},
                             {"simulate", scenario, "--format", "json", "--format", "csv"},
                             {"schedule", "1f1b", "-p", "x", "-m", "4"}}) {
    const Outcome outcome = run_program(words);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.messages, !Contains("did you mean"));
  }
  CHECK_THAT(run_program({"topology", "selene"}).messages, Contains("topology show selene"));
  CHECK_THAT(run_program({"models", "gpt-145b"}).messages, Contains("models show gpt-145b"));
  CHECK_THAT(run_program({"models", "lst"}).messages, Contains("models list"));
  CHECK_THAT(run_program({"schedule", "1f1"}).messages, Contains("nearest: 1f1b"));
  CHECK(run_program({"schedule", "NOFILE"}).exit_code == 3);
  CHECK_THAT(run_program({"schema", "bogus"}).messages, Contains("calibration, cluster"));
}

TEST_CASE("a key with an index in brackets is the key with dots") {
  const std::string scenario = shipped("gpt-145b-selene");
  const Words dotted{"explain", "stages.3.peak_memory_bytes", scenario, "--estimate"};
  const Outcome outcome = run_program({"explain", "stages[3].peak_memory_bytes", scenario, "--estimate"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output == run_program(dotted).output);
  const Outcome beyond = run_program({"explain", "stages[99].peak_memory_bytes", scenario, "--estimate"});
  CHECK(beyond.exit_code == 3);
  CHECK_THAT(beyond.messages, Contains("0 to 7"));
  CHECK_THAT(run_program({"explain", "stages[0].peak_memory"}).messages, Contains("nearest"));
}

TEST_CASE("the family without a member that can run is a refusal") {
  const Outcome outcome = run_program({"schedule", "--all", "-p", "0", "-m", "4"});
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.messages, Contains("at least one rank"));
  CHECK(run_program({"schedule", "--all", "-p", "3", "-m", "1"}).exit_code == 0);  // some refuse, some run
}

TEST_CASE("no verb writes over what it reads, under whatever name") {
  const Scratch scratch;
  std::filesystem::create_directories(scratch.file("models"));
  const std::string model = scratch.write("models/own.json", "{\"extends\": \"gpt-1.7b\", \"name\": \"own\"}");
  const std::string base = scratch.write("base.json",
                                         "{\"cluster\": {\"extends\": \"selene\", \"nodes\": 4}, "
                                         "\"parallel\": {\"data\": 32}, \"batch\": {\"global\": 64}}");
  const std::string calibration = scratch.write("cal.json", "{\"extends\": \"a100-hdr\"}");
  const std::string table = scratch.write("t.csv", "0F0,0F1,0B0,0B1\n");
  const std::string top = scratch.write("top.json",
                                        "{\"extends\": \"base.json\", \"model\": \"models/own.json\", "
                                        "\"calibration\": \"./cal.json\", \"schedule\": {\"csv\": \"t.csv\"}}");
  const std::string trace = scratch.file("t.sgt");
  REQUIRE(run_program({"simulate", top, "--estimate", "--trace", trace}).exit_code == 0);
  std::filesystem::create_symlink(top, scratch.file("link.json"));
  std::filesystem::create_hard_link(table, scratch.file("hard.csv"));
  std::filesystem::create_directories(scratch.file("folder"));
  const std::vector<std::string> inputs{model, base, calibration, table, top, trace};
  std::vector<std::string> before;
  for (const std::string& input : inputs) before.push_back(text_of_file(input));
  const std::string roundabout = scratch.file("folder/../top.json");
  for (const Words& words : {Words{"simulate", top, "--estimate", "-o", top},
                             {"simulate", top, "--estimate", "-o", roundabout},
                             {"simulate", top, "--estimate", "-o", scratch.file("link.json")},
                             {"simulate", top, "--estimate", "-o", base},
                             {"simulate", top, "--estimate", "-o", model},
                             {"simulate", top, "--estimate", "-o", calibration},
                             {"simulate", top, "--estimate", "--trace", table},
                             {"simulate", top, "--estimate", "--trace", scratch.file("hard.csv")},
                             {"simulate", top, "--estimate", "--trace", trace, "-o", trace},
                             {"check", top, "-o", top},
                             {"check", top, "-o", base},
                             {"check", top, "-o", calibration},
                             {"schedule", table, "-o", table},
                             {"schedule", table, "-o", scratch.file("hard.csv")},
                             {"schedule", table, "--format", "csv", "-o", scratch.file("./t.csv")},
                             {"compare", trace, trace, "-o", trace},
                             {"profile", top, "--output", top},
                             {"profile", top, "--output", calibration},
                             {"execute", top, "--trace", model},
                             {"execute", top, "--profile", scratch.file("link.json")},
                             {"execute", top, "--data", trace, "--trace", trace},
                             {"execute", top, "--trace", scratch.file("new"), "--profile", scratch.file("new")}}) {
    std::string shown;
    for (const std::string& word : words) shown += word + " ";
    INFO(shown);
    CHECK(run_program(words).exit_code == 2);
  }
  CHECK(run_program({"bundle", top, "--output", scratch.file(".")}).exit_code == 3);
  for (std::size_t i = 0; i < inputs.size(); ++i) CHECK(text_of_file(inputs[i]) == before[i]);
}
