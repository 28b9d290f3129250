#include <catch2/catch.hpp>

#include "run_program.hpp"

using namespace stagecraft;

TEST_CASE("nccl-tests prints a row per size in nccl-tests' columns") {
  const Outcome run = run_program({"nccl-tests", "--cluster", "eos", "-b", "8", "-e", "128"});
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.output, Catch::Contains("size") && Catch::Contains("redop") && Catch::Contains("busbw") &&
                             Catch::Contains("# Avg bus bandwidth"));
  for (const char* size : {"8", "16", "32", "64", "128"}) {
    CHECK_THAT(run.output, Catch::Contains(std::string(" ") + size + " "));
  }
}

TEST_CASE("nccl-tests refuses what no machine could run, naming what it takes") {
  const auto says = [](const std::vector<std::string>& words, const char* what) {
    const Outcome run = run_program(words);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.messages, Catch::Contains(what));
  };
  says({"nccl-tests", "--cluster", "eos", "--gpus", "1"}, "expected 2 to 4608");
  says({"nccl-tests", "--cluster", "eos", "-b", "8X"}, "8, 32M, 8G");
  says({"nccl-tests", "--cluster", "eos", "-b", "1G", "-e", "1M"}, "larger than -e");
  says({"nccl-tests", "--cluster", "eos", "--algorithm", "collnet_chain"}, "no algorithm can run");
  says({"nccl-tests", "--cluster", "host-2core"}, "host-cpu");
}
