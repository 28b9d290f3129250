#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "run_program.hpp"

using namespace stagecraft;
using Words = std::vector<std::string>;

TEST_CASE("a search says what is best and why, and writes it as a scenario that gives the same time") {
  const Scratch scratch;
  const std::string best = scratch.file("best.json");
  const Outcome found = run_program({"search", "--model", "gpt-1.7b", "--cluster", "selene", "--gpus", "16",
                                     "--global-batch", "64", "--estimate", "--write", best});
  REQUIRE(found.exit_code == 0);
  CHECK_THAT(found.output, Catch::Contains("gpt-1.7b on 16 GPUs of selene, global batch 64") &&
                               Catch::Contains("Why the first one:") && Catch::Contains("TP ") &&
                               Catch::Contains("% longer") && Catch::Contains("bandwidth -10 %"));
  CHECK(run_program({"check", best}).exit_code == 0);
}

TEST_CASE("what a search writes takes the time that it was ranked by, whatever its file fixes") {
  const Scratch scratch;
  const std::string rest = R"("model": "gpt-1.7b", "cluster": {"extends": "selene", "nodes": 2}, )";
  for (const std::string base :
       {R"("parallel": {"tensor": 8}, "batch": {"accumulation": 16, "micro": 2})",
        R"("parallel": {"tensor": 2, "pipeline": 4}, "batch": {"global": 32, "micro": 1}, "framework": "fsdp")",
        R"("parallel": {}, "batch": {"global": 32, "micro": 1}, "framework": "torch_ddp", "zero_stage": 3)"}) {
    CAPTURE(base);
    const std::string file = scratch.write("base.json", "{" + rest + base + "}"), best = scratch.file("best.json");
    const Outcome found = run_program({"search", file, "--estimate", "--vary", "parallel.pipeline=1,2", "--vary",
                                       "zero_stage=0,3", "--format", "json", "--write", best});
    REQUIRE(found.exit_code == 0);
    const Outcome again = run_program({"simulate", best, "--estimate", "--format", "json"});
    REQUIRE(again.exit_code == 0);
    const auto ranked = nlohmann::json::parse(found.output), timed = nlohmann::json::parse(again.output);
    nlohmann::json first;
    for (const auto& point : ranked.at("points")) {
      if (point.at("status") != "ok" || point.at("reason") != "") continue;
      if (first.is_null() || point.at("step_time_s") < first.at("step_time_s")) first = point;
    }
    REQUIRE_FALSE(first.is_null());
    CHECK(first.at("step_time_s") == timed.at("step_time_s"));
    CHECK(first.at("peak_memory_bytes") == timed.at("peak_memory_bytes"));
  }
}

TEST_CASE("a search without a layout that fits says so and ends with 4") {
  const Outcome found = run_program(
      {"search", "--model", "gpt-145b", "--cluster", "selene", "--gpus", "8", "--global-batch", "8", "--estimate"});
  CHECK(found.exit_code == 4);
  CHECK_THAT(found.output, Catch::Contains("Nothing fits"));
}

TEST_CASE("a search in which nothing can run says that, ends with 3, and names the option that is wrong") {
  // Eight key-value heads do not divide by 16 tensor ranks.
  const Outcome found = run_program({"search", "--model", "llama-3-8b", "--cluster", "selene", "--gpus", "32",
                                     "--global-batch", "128", "--estimate", "--vary", "parallel.tensor=16"});
  CHECK(found.exit_code == 3);
  CHECK_THAT(found.output, Catch::Contains("Nothing can run") && Catch::Contains("key-value heads"));
  const Outcome nodes = run_program({"suggest", "tiny-gpt", "--gpus", "2", "--cluster", "host-2core"});
  CHECK(nodes.exit_code == 3);
  CHECK_THAT(nodes.messages, Catch::Contains("--gpus: /cluster/nodes"));
}

TEST_CASE("hostile searches end with one message") {
  const std::string file = shipped("gpt-1.7b-selene");
  CHECK(run_program({"search"}).exit_code == 2);
  CHECK(run_program({"search", "--model", "gpt-1.7b"}).exit_code == 2);
  CHECK(run_program({"search", file, "--model", "gpt-1.7b"}).exit_code == 2);
  CHECK(run_program({"search", file, "--vary", "parallel.data=1"}).exit_code == 3);
  CHECK(run_program({"search", file, "--vary", "schedule=1f2b"}).exit_code == 3);
  CHECK(run_program({"search", file, "--vary", "parallel.tensor=0"}).exit_code == 3);
  CHECK(run_program({"search", file, "--objective", "gpus"}).exit_code == 3);
  CHECK(run_program({"search", file, "--gpus", "-3"}).exit_code == 2);
  CHECK(run_program({"search", file, "--gpus", "7", "--global-batch", "5", "--vary", "parallel.tensor=8"}).exit_code ==
        2);
  CHECK(run_program({"search", "nowhere.json"}).exit_code == 3);
  CHECK(run_program({"suggest", "gpt-9000b", "--gpus", "8"}).exit_code == 3);
  CHECK(run_program({"solve", file}).exit_code == 2);
  CHECK(run_program({"solve", file, "--step-time", "-1"}).exit_code == 2);
}

TEST_CASE("a suggestion is a scenario that runs, with a reason for every degree") {
  const Scratch scratch;
  const std::string place = scratch.file("suggested.json");
  const Outcome told =
      run_program({"suggest", "gpt-7.5b", "--gpus", "16", "--cluster", "selene", "--estimate", "--write", place});
  REQUIRE(told.exit_code == 0);
  CHECK_THAT(told.output, Catch::Contains("TP ") && Catch::Contains("PP ") && Catch::Contains("32 GPUs"));
  CHECK(run_program({"check", place}).exit_code == 0);
}

TEST_CASE("solve finds the value that a step time came from") {
  const std::string file = shipped("gpt-1.7b-selene");
  const Outcome at_half =
      run_program({"simulate", file, "--estimate", "--format", "csv", "--set", "cluster.fabric.nic.achieved=10 GB/s"});
  (void)at_half;
  const Outcome solved = run_program({"solve", file, "--step-time", "2.5"});
  CHECK(solved.exit_code == 0);
  CHECK_THAT(solved.output, Catch::Contains("efficiency") && Catch::Contains("bandwidth"));
}
