// stagecraft calibrate: what it refuses. What it fits is tested beside the room, tests/validate.
#include <catch2/catch.hpp>

#include "run_program.hpp"

using namespace stagecraft;

namespace {

Outcome fit(std::vector<std::string> words) {
  words.insert(words.begin(), {"calibrate", shipped("records/published")});
  return run_program(words);
}

}  // namespace

TEST_CASE("calibrate names the nearest constant, and refuses a calibration that no record uses") {
  const Outcome unknown = fit({"--calibration", "a100-hdr+megatron-2021", "--fit", "gemm/fp16/cieling"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.messages.find("gemm/fp16/ceiling") != std::string::npos);
  const Outcome unused = fit({"--calibration", "host-cpu+megatron-2021", "--fit", "gemm/fp32/ceiling"});
  CHECK(unused.exit_code == 3);
  CHECK(unused.messages.find("host-cpu+megatron-2021") != std::string::npos);
  CHECK(fit({}).exit_code == 2);
}
