// A training log on its way to a comparison: observe, then validate and compare.
#include <catch2/catch.hpp>

#include "run_program.hpp"

using namespace stagecraft;

namespace {

std::string log_of(double milliseconds) {
  std::string log;
  for (int i = 1; i <= 12; ++i) {
    log += " [2024-05-01 10:00:00] iteration " + std::to_string(i) +
           "/ 500 | consumed samples: 0 | elapsed time per iteration (ms): " + std::to_string(milliseconds) +
           " | throughput per GPU (TFLOP/s/GPU): 148.0 | global batch size: 2304 | lm loss: 6.5E+00 |\n";
  }
  return log;
}

}  // namespace

TEST_CASE("what observe reads of a log is what compare holds a prediction against") {
  const Scratch folder;
  const std::string trace = folder.file("p.sgt"), record = folder.file("run.json");
  const std::string log = folder.write("train.log", log_of(20000));
  REQUIRE(run_program({"observe", log, "-o", record}).exit_code == 0);
  REQUIRE(run_program({"simulate", shipped("gpt-145b-selene"), "--estimate", "--trace", trace}).exit_code == 0);
  const Outcome told = run_program({"compare", trace, record});
  CHECK(told.exit_code == 0);
  CHECK(told.output.find("step time") != std::string::npos);
  CHECK(told.output.find("20 s") != std::string::npos);
  // The estimate is not within a millionth of this invented figure.
  CHECK(run_program({"compare", trace, record, "--step", "1e-6"}).exit_code == 5);
  const Outcome bubble = run_program({"compare", trace, record, "--bubble", "0.1"});
  CHECK(bubble.exit_code == 2);
  CHECK(bubble.messages.find("a record tells no bubble") != std::string::npos);
}

TEST_CASE("observe refuses a warm-up that is as long as the log") {
  const Scratch folder;
  const std::string record = folder.file("run.json"), log = folder.write("train.log", log_of(20000));
  const Outcome none_left = run_program({"observe", log, "--warm-up", "12", "-o", record});
  CHECK(none_left.exit_code == 2);
  CHECK(none_left.messages.find("12 intervals; nearest: --warm-up 11") != std::string::npos);
  CHECK(folder.entries() == std::vector<std::string>{"train.log"});
  CHECK(run_program({"observe", log, "--warm-up", "11", "-o", record}).exit_code == 0);
}

TEST_CASE("compare takes one record, and says where more of them belong") {
  const Scratch folder;
  const std::string trace = folder.file("p.sgt");
  REQUIRE(run_program({"simulate", shipped("gpt-145b-selene"), "--estimate", "--trace", trace}).exit_code == 0);
  const Outcome many = run_program({"compare", trace, STAGECRAFT_SOURCE_DIR "/scenarios/records/published.json"});
  CHECK(many.exit_code == 3);
  CHECK(many.messages.find("stagecraft validate") != std::string::npos);
  CHECK(run_program({"compare", trace, folder.write("empty.json", "{}")}).exit_code == 3);
}
