// Searches that were interrupted: what kill -9 leaves is not computed again, and the result is the same file.

#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "run_program.hpp"

using namespace stagecraft;
using Words = std::vector<std::string>;

namespace {

Words search_words(const std::string& output, const Words& more = {}) {
  Words words{"search",
              "--model",
              "gpt-1.7b",
              "--cluster",
              "selene",
              "--gpus",
              "16",
              "--global-batch",
              "64",
              "--vary",
              "parallel.tensor=1..8*2",
              "--vary",
              "batch.micro=1,2",
              "--vary",
              "parallel.virtual_stages=1,2",
              "--format",
              "csv",
              "--output",
              output};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool lacks_simgrid(const Outcome& outcome) {
  return outcome.exit_code == 2 && outcome.messages.find("without SimGrid") != std::string::npos;
}

}  // namespace

TEST_CASE("a search killed at random moments and resumed writes the same bytes, and computes nothing twice") {
  const Scratch scratch;
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(run_program(search_words(scratch.file("whole.csv"), {"--estimate"})).exit_code == 0);
  const auto whole_time = std::chrono::steady_clock::now() - begin;
  const std::string expected = text_of_file(scratch.file("whole.csv"));
  const std::size_t whole_lines = lines_of(text_of_file(scratch.file("whole.csv.journal")));

  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < kill_rounds(); ++round) {
    const std::string output = scratch.file("round" + std::to_string(round) + ".csv");
    const Words words = search_words(output, {"--estimate", "--resume"});
    const auto longest = std::chrono::duration_cast<std::chrono::microseconds>(whole_time).count();
    // Twice in a row: the second time while it resumes.
    start_and_kill(words, std::chrono::microseconds(random() % longest));
    start_and_kill(words, std::chrono::microseconds(random() % longest));
    const Outcome resumed = run_program(words);
    CAPTURE(round, resumed.messages);
    REQUIRE(resumed.exit_code == 0);
    CHECK(text_of_file(output) == expected);
    CHECK(lines_of(text_of_file(output + ".journal")) == whole_lines);
  }
}

TEST_CASE("a search goes on from wherever its journal ends: amid judging, timing or simulating") {
  for (const Words& how : {Words{"--estimate"}, Words{"--simulate", "4", "--vary", "parallel.pipeline=1,2"}}) {
    const Scratch scratch;
    const std::string output = scratch.file("a.csv");
    Words resume = how;
    resume.push_back("--resume");
    const Outcome whole = run_program(search_words(output, how));
    if (lacks_simgrid(whole)) continue;
    CAPTURE(whole.messages);
    REQUIRE(whole.exit_code == 0);
    const std::string expected = text_of_file(output), journal = text_of_file(output + ".journal");
    const std::size_t timed = journal.find("closed_form_s");
    REQUIRE(timed != std::string::npos);
    CHECK((journal.find("simulated_s") != std::string::npos) == (how.front() == "--simulate"));
    for (const std::size_t size : {journal.size(), journal.size() - 5, timed + 2, timed / 2, std::size_t{0}}) {
      CAPTURE(size);
      scratch.write("a.csv.journal", journal.substr(0, size));
      scratch.write("a.csv", "");
      const Outcome resumed = run_program(search_words(output, resume));
      CAPTURE(resumed.messages);
      CHECK(resumed.exit_code == 0);
      CHECK(text_of_file(output) == expected);
      CHECK(lines_of(text_of_file(output + ".journal")) == lines_of(journal));
      if (size == journal.size()) CHECK(text_of_file(output + ".journal") == journal);
    }
  }
}

TEST_CASE("a search that found nothing on the GPUs alone resumes with the hosts tried too") {
  const Scratch scratch;
  const std::string output = scratch.file("a.json");
  const auto run = [&](const Words& more) {
    Words words{"search",   "--model",        "gpt-39.1b", "--cluster",
                "selene",   "--gpus",         "8",         "--global-batch",
                "8",        "--estimate",     "--vary",    "batch.micro=1",
                "--vary",   "recompute=full", "--vary",    "parallel.virtual_stages=1",
                "--format", "json",           "--output",  output};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  const Outcome whole = run({});
  CAPTURE(whole.messages);
  REQUIRE((whole.exit_code == 0 || whole.exit_code == 4));
  const std::string expected = text_of_file(output), journal = text_of_file(output + ".journal");
  for (const std::size_t size : {journal.size(), journal.size() * 3 / 4, journal.size() / 4}) {
    scratch.write("a.json.journal", journal.substr(0, size));
    CHECK(run({"--resume"}).exit_code == whole.exit_code);
    CHECK(text_of_file(output) == expected);
    CHECK(lines_of(text_of_file(output + ".journal")) == lines_of(journal));
  }
}

TEST_CASE("the journal of another request is refused with one message, and stays as it is") {
  const Scratch scratch;
  const std::string root = STAGECRAFT_SOURCE_DIR, output = scratch.file("a.csv");
  const std::string calibration =
      scratch.write("mine.json", text_of_file(root + "/topologies/calibrations/a100-hdr.json"));
  const std::string scenario = scratch.write("my.json", R"({"extends": ")" + shipped("gpt-1.7b-selene") + R"("})");
  const auto run = [&](const Words& more) {
    Words words{"search",
                scenario,
                "--estimate",
                "--set",
                "calibration=" + calibration,
                "--vary",
                "parallel.virtual_stages=1",
                "--output",
                output};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  const Words restricted{"--vary", "batch.micro=1"};
  const auto with = [&](const Words& more) {
    Words words = restricted;
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const Outcome first = run(restricted);
  CAPTURE(first.messages);
  REQUIRE(first.exit_code == 0);
  const std::string journal = text_of_file(output + ".journal");

  const Outcome again = run(restricted);
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.messages, Catch::Contains("--resume") && Catch::Contains("--restart"));
  const auto refused = [&](const Outcome& outcome) {
    CAPTURE(outcome.messages);
    CHECK(outcome.exit_code == 3);
    CHECK_THAT(outcome.messages, Catch::Contains("a journal of another search"));
    CHECK(outcome.messages.find("stagecraft: ") == outcome.messages.rfind("stagecraft: "));
    CHECK(text_of_file(output + ".journal") == journal);
  };
  refused(run({"--vary", "batch.micro=2", "--resume"}));
  refused(with({"--reserve", "0.1", "--resume"}));
  refused(with({"--gpus", "16", "--resume"}));
  refused(with({"--global-batch", "256", "--resume"}));
  refused(with({"--objective", "peak_memory_bytes", "--resume"}));
  refused(with({"--set", "zero_stage=1", "--resume"}));
  CHECK(with({"--threads", "1", "--resume"}).exit_code == 0);  // changes no figure

  scratch.write("my.json", text_of_file(scenario) + "\n");
  refused(with({"--resume"}));
  scratch.write("my.json", R"({"extends": ")" + shipped("gpt-1.7b-selene") + R"("})");
  CHECK(with({"--resume"}).exit_code == 0);
  scratch.write("mine.json", text_of_file(calibration) + "\n");
  refused(with({"--resume"}));
  CHECK(with({"--restart"}).exit_code == 0);
  CHECK(text_of_file(output + ".journal") != journal);
}

TEST_CASE("hostile resumed searches end with one message and lose nothing") {
  const Scratch scratch;
  const std::string file = shipped("gpt-1.7b-selene"), out = scratch.file("out.csv");
  CHECK(run_program({"search", file, "--estimate", "--resume"}).exit_code == 2);
  CHECK(run_program({"search", file, "--estimate", "--output", out, "--resume", "--restart"}).exit_code == 2);
  CHECK(run_program({"search", file, "--estimate", "--output", out, "--journal", out}).exit_code == 2);
  CHECK(run_program({"search", file, "--estimate", "--journal", file, "--resume"}).exit_code == 2);
  // What is refused before anything is computed leaves no journal behind.
  CHECK(run_program({"search", file, "--estimate", "--output", out, "--objective", "speed"}).exit_code == 3);
  CHECK(run_program({"search", file, "--estimate", "--output", out, "--vary", "parallel.data=1"}).exit_code == 3);
  CHECK(scratch.entries().empty());

  const std::string mine = scratch.write("mine.txt", "dear diary\n");
  for (const char* const how : {"--resume", "--restart"})
    CHECK(run_program({"search", file, "--estimate", "--journal", mine, how}).exit_code == 3);
  CHECK(text_of_file(mine) == "dear diary\n");

  REQUIRE(run_program(search_words(out, {"--estimate"})).exit_code == 0);
  CHECK(run_program({"merge", out + ".journal"}).exit_code == 3);
  const std::string broken = text_of_file(out + ".journal") + "{}\n";
  scratch.write("out.csv.journal", broken);
  CHECK(run_program(search_words(out, {"--estimate", "--resume"})).exit_code == 3);
  CHECK(text_of_file(out + ".journal") == broken);
}
