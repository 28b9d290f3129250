// stagecraft memory: figures, findings, advice.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "run_program.hpp"

using namespace stagecraft;

namespace {

std::string lesson(const std::string& name) {
  return shipped("lessons/" + name);
}

Outcome run_memory(std::vector<std::string> words) {
  words.insert(words.begin(), "memory");
  return run_program(words);
}

nlohmann::json memory_of(std::vector<std::string> words, int expected) {
  words.insert(words.end(), {"--format", "json"});
  const Outcome outcome = run_memory(words);
  INFO(outcome.messages);
  CHECK(outcome.exit_code == expected);
  return nlohmann::json::parse(outcome.output);
}

double bytes_of(const nlohmann::json& memory, const char* memory_class) {
  return memory.at("ranks").at(0).at("bytes").at(memory_class).get<double>();
}

}  // namespace

TEST_CASE("ZeRO 1 to 3 divide one class of states more each, and no activations") {
  const auto none = memory_of({lesson("11-7b-fp32-data-parallel"), "--no-advice"}, 4);
  const auto one = memory_of({lesson("12-7b-fp32-zero-1"), "--no-advice"}, 0);
  const auto two = memory_of({lesson("13-7b-fp32-zero-2"), "--no-advice"}, 0);
  const auto three = memory_of({lesson("14-7b-fp32-zero-3"), "--no-advice"}, 0);
  CHECK(bytes_of(one, "optimizer_states") * 8 == Approx(bytes_of(none, "optimizer_states")));
  CHECK(bytes_of(one, "gradients") == bytes_of(none, "gradients"));
  CHECK(bytes_of(two, "gradients") * 8 == Approx(bytes_of(none, "gradients")));
  CHECK(bytes_of(two, "parameters") == bytes_of(none, "parameters"));
  CHECK(bytes_of(three, "parameters") * 8 == Approx(bytes_of(none, "parameters")));
  // 6.74 billion parameters: 27 GB each of weights and gradients, 54 GB of moments.
  CHECK(bytes_of(none, "parameters") == Approx(27e9).epsilon(0.01));
  CHECK(bytes_of(none, "optimizer_states") == Approx(54e9).epsilon(0.01));
}

TEST_CASE("what does not fit comes with changes that do, each of them tried") {
  const auto memory = memory_of({lesson("11-7b-fp32-data-parallel")}, 4);
  CHECK_FALSE(memory.at("fits").get<bool>());
  CHECK(memory.contains("failing_allocation"));
  REQUIRE(!memory.at("advice").empty());
  for (const auto& advice : memory.at("advice")) {
    std::vector<std::string> words = {lesson("11-7b-fp32-data-parallel"), "--no-advice"};
    for (const auto& change : advice.at("set")) words.insert(words.end(), {"--set", change.get<std::string>()});
    CHECK(memory_of(words, 0).at("fits").get<bool>());
    CHECK(advice.at("step_time_s").get<double>() > 0);
  }
}

TEST_CASE("a measurement leaves an explicit remainder") {
  const auto memory = memory_of({lesson("12-7b-fp32-zero-1"), "--no-advice", "--measured", "allocated=70 GB"}, 0);
  const auto& measured = memory.at("measured").at(0);
  CHECK(measured.at("unexplained_bytes").get<double>() == Approx(70e9 - memory.at("allocated_bytes").get<double>()));
}

TEST_CASE("offload is held against the host, and refused where there is none") {
  const auto memory = memory_of({lesson("17-7b-mixed-offload"), "--no-advice"}, 0);
  CHECK(memory.at("host_bytes").get<double>() > 0);
  CHECK(bytes_of(memory, "optimizer_states") == 0);
  const Outcome drives = run_memory({lesson("17-7b-mixed-offload"), "--set", "offload.optimizer=nvme"});
  CHECK(drives.exit_code == 3);
  CHECK_THAT(drives.messages, Catch::Contains("NVMe"));
}

TEST_CASE("the memory verb takes no reading without its kind and unit") {
  const std::string file = lesson("12-7b-fp32-zero-1");
  for (const char* reading : {"70", "allocated=70", "freed=70 GB"}) {
    CHECK(run_memory({file, "--measured", reading}).exit_code == 2);
  }
}
