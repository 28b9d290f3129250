// Sweeps: what they write, what kill -9 leaves, shards and their merging.

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <random>

#include "run_program.hpp"

using namespace stagecraft;
using Words = std::vector<std::string>;

namespace {

/// A hundred and sixty-eight points, some of which cannot run.
Words sweep_words(const std::string& output, const Words& more = {}) {
  Words words{"sweep",
              shipped("gpt-1.7b-selene"),
              "--estimate",
              "--vary",
              "parallel.tensor=1..8*2",
              "--vary",
              "batch.micro=1..16*2",
              "--vary",
              "recompute=none,full",
              "--vary",
              "zero_stage=0..3",
              "--format",
              "csv",
              "--workers",
              "2",
              "--output",
              output};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}
constexpr std::size_t points = 4 * 5 * 2 * 4;

}  // namespace

TEST_CASE("a sweep killed at random moments and resumed writes the same bytes, and computes no point twice") {
  const Scratch scratch;
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(run_program(sweep_words(scratch.file("whole.csv"))).exit_code == 0);
  const auto whole_time = std::chrono::steady_clock::now() - begin;
  const std::string expected = text_of_file(scratch.file("whole.csv"));
  REQUIRE(lines_of(expected) == points + 1);

  std::mt19937 random(std::random_device{}());
  std::size_t kept = 0;
  for (int round = 0; round < kill_rounds(); ++round) {
    const std::string output = scratch.file("round" + std::to_string(round) + ".csv");
    const auto longest = std::chrono::duration_cast<std::chrono::microseconds>(whole_time).count();
    // Twice in a row: the second time while it resumes.
    start_and_kill(sweep_words(output, {"--resume"}), std::chrono::microseconds(random() % longest));
    start_and_kill(sweep_words(output, {"--resume"}), std::chrono::microseconds(random() % longest));
    const std::string journal = output + ".journal";
    if (text_of_file(journal).size() > 0) kept += lines_of(text_of_file(journal));
    const Outcome resumed = run_program(sweep_words(output, {"--resume"}));
    CAPTURE(round, resumed.messages);
    REQUIRE(resumed.exit_code == 0);
    CHECK(text_of_file(output) == expected);
    CHECK(lines_of(text_of_file(journal)) == points + 1);  // a line each, and the header
  }
  CHECK(kept > 0);
}

TEST_CASE("a journal whose last line was cut off loses that point only") {
  const Scratch scratch;
  const std::string output = scratch.file("a.csv");
  REQUIRE(run_program(sweep_words(output)).exit_code == 0);
  const std::string expected = text_of_file(output), journal = text_of_file(output + ".journal");
  for (const std::size_t size : {journal.size() - 5, journal.size() / 2, std::size_t{20}, std::size_t{0}}) {
    scratch.write("a.csv.journal", journal.substr(0, size));
    const Outcome resumed = run_program(sweep_words(output, {"--resume"}));
    CAPTURE(size, resumed.messages);
    if (size == 20) {  // not even a header: it might be anybody's file
      CHECK(resumed.exit_code == 3);
      continue;
    }
    CHECK(resumed.exit_code == 0);
    CHECK(text_of_file(output) == expected);
  }
}

TEST_CASE("shards merged are the whole sweep, byte for byte, in every form") {
  const Scratch scratch;
  REQUIRE(run_program(sweep_words(scratch.file("whole.csv"))).exit_code == 0);
  Words merge{"merge", "--format", "csv"};
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const std::string output = scratch.file(std::string("part") + shard[0] + ".csv");
    REQUIRE(run_program(sweep_words(output, {"--shard", shard})).exit_code == 0);
    merge.push_back(output + ".journal");
  }
  const Outcome merged = run_program(merge);
  CHECK(merged.exit_code == 0);
  CHECK(merged.output == text_of_file(scratch.file("whole.csv")));

  merge.pop_back();
  const Outcome gap = run_program(merge);
  CHECK(gap.exit_code == 3);
  CHECK_THAT(gap.messages, Catch::Contains("53 missing"));  // points 2, 5, ... 158 of 160
}

Outcome with_workers(Words words, const char* workers) {
  words.insert(words.end(), {"--workers", workers});
  return run_program(words);
}

TEST_CASE("a sweep's bytes do not depend on the number of workers") {
  const Words words{"sweep", shipped("gpt-1.7b-selene"), "--estimate", "--vary", "parallel.tensor=1..8*2", "--format",
                    "json"};
  const Outcome first = with_workers(words, "1"), second = with_workers(words, "5");
  CHECK(first.exit_code == 0);
  CHECK(first.output == second.output);
  CHECK_THAT(first.output, Catch::Contains("\"parallel.tensor\": \"8\""));
}

TEST_CASE("a simulated sweep's bytes depend neither on the workers nor on what they did before") {
  const Words words{"sweep",    shipped("gpt-145b-selene"),
                    "--vary",   "batch.micro=1,2",
                    "--vary",   "recompute=none,full",
                    "--vary",   "parallel.virtual_stages=1,2",
                    "--format", "csv"};
  const Outcome first = with_workers(words, "1"), second = with_workers(words, "2");
  CHECK(first.exit_code == 0);
  CHECK(first.output == second.output);
}

TEST_CASE("a sweep into a device keeps no journal beside it") {
  const Scratch scratch;
  const std::string device = scratch.file("null");
  std::filesystem::create_symlink("/dev/null", device);
  const Words words{"sweep", shipped("gpt-1.7b-selene"), "--estimate", "--vary", "batch.micro=1,2", "--output", device};
  CHECK(run_program(words).exit_code == 0);
  CHECK(scratch.entries() == Words{"null"});
  CHECK(std::filesystem::is_symlink(device));
}

TEST_CASE("points that cannot run keep their reason, and the front is marked") {
  const Outcome outcome = run_program(
      {"sweep", shipped("gpt-1.7b-selene"), "--estimate", "--vary", "parallel.tensor=1,5,8", "--format", "csv"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.output, Catch::Contains("1,5,infeasible,") && Catch::Contains("heads"));
}

TEST_CASE("hostile sweeps end with one message and lose nothing") {
  const Scratch scratch;
  const std::string file = shipped("gpt-1.7b-selene"), out = scratch.file("out.csv");
  const Words base{"sweep", file, "--estimate", "--vary", "batch.micro=1,2", "--output", out};
  const auto with = [&](Words more) {
    Words words = base;
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  CHECK(run_program({"sweep", file}).exit_code == 2);
  CHECK(run_program({"sweep", file, "--vary", "nonsense"}).exit_code == 3);
  CHECK(run_program({"sweep", file, "--estimate", "--vary", "parallel.tensr=1,2"}).exit_code == 3);
  CHECK(with({"--shard", "0/3"}).exit_code == 2);
  CHECK(with({"--shard", "4/3"}).exit_code == 2);
  CHECK(with({"--shard", "1/3x"}).exit_code == 2);
  CHECK(with({"--workers", "0"}).exit_code == 2);
  CHECK(with({"--workers", "-4"}).exit_code == 2);
  CHECK(with({"--objective", "speed"}).exit_code == 3);
  CHECK(with({"--resume", "--restart"}).exit_code == 2);
  CHECK(with({"--pareto", out}).exit_code == 2);
  CHECK(with({"--journal", file}).exit_code == 2);
  CHECK_FALSE(scratch.entries().size() > 0);

  REQUIRE(with({}).exit_code == 0);
  const std::string journal = text_of_file(out + ".journal");
  const Outcome again = with({});
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.messages, Catch::Contains("--resume"));
  CHECK(with({"--vary", "recompute=none,full", "--resume"}).exit_code == 3);  // another sweep's journal
  CHECK(with({"--shard", "1/2", "--resume"}).exit_code == 3);                 // a part of this one
  const Outcome search = run_program({"search", file, "--estimate", "--output", out, "--resume"});
  CHECK(search.exit_code == 3);
  CHECK_THAT(search.messages, Catch::Contains("a journal of another sweep"));
  CHECK(text_of_file(out + ".journal") == journal);
  CHECK(with({"--restart"}).exit_code == 0);

  const std::string mine = scratch.write("mine.txt", "dear diary\n");
  CHECK(with({"--journal", mine, "--restart"}).exit_code == 3);
  CHECK(with({"--journal", mine, "--resume"}).exit_code == 3);
  CHECK(text_of_file(mine) == "dear diary\n");
  CHECK(run_program({"merge", mine}).exit_code == 3);
  CHECK(run_program({"merge", scratch.file("nowhere")}).exit_code == 3);
}
