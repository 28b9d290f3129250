#include "report/explain.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/input_error.hpp"
#include "report/figures.hpp"
#include "report/keys.hpp"
#include "sample_report.hpp"

using namespace stagecraft;

TEST_CASE("every key of the report can be explained, with values and without") {
  for (const std::string& key : explainable_keys()) {
    INFO(key);
    CHECK_THAT(explain(key), Catch::StartsWith(key));
    CHECK_THAT(explain(key, sample_report()), Catch::StartsWith(key + " = ") && Catch::Contains("source:"));
  }
}

TEST_CASE("every input of a formula is a key itself") {
  const std::vector<std::string> keys = explainable_keys();
  for (const ReportKey& key : report_keys()) {
    for (const std::string& input : key.inputs) {
      INFO(key.path << " <- " << input);
      CHECK(std::find(keys.begin(), keys.end(), input) != keys.end());
    }
  }
}

TEST_CASE("an explanation shows the value, its interval and the inputs with theirs") {
  const std::string text = explain("mfu", sample_report());
  CHECK_THAT(text, Catch::Contains("mfu = 0.12   (0.1 to 0.134, fitted)"));
  CHECK_THAT(text, Catch::Contains("inputs.model_flops") && Catch::Contains("7.5e+13"));
  CHECK_THAT(text, Catch::Contains("a100+megatron"));
}

TEST_CASE("one entry of a list is explained from its own entry") {
  Report report = sample_report();
  report.stages[1].memory[3] = {123456};
  const std::string text = explain("stages.1.peak_memory_bytes", report);
  CHECK_THAT(text, Catch::Contains("stages.1.memory.activations_bytes") && Catch::Contains("123456"));
}

TEST_CASE("exposed communication is explained as the sum of its parts") {
  Report report = sample_report();
  report.breakdown = {};
  report.breakdown[static_cast<std::size_t>(TimeClass::forward)] = 6;
  report.breakdown[static_cast<std::size_t>(TimeClass::pipeline_communication)] = 1;
  report.breakdown[static_cast<std::size_t>(TimeClass::host_copies)] = 3;
  CHECK(exposed_communication(report) == Approx(0.4));
  const Explanation about = explanation("exposed_communication_fraction", report);
  CHECK(about.value == "0.4");
  REQUIRE(about.inputs.size() == exposed_classes.size());
  CHECK(about.inputs[3].path == "breakdown.pipeline_communication.fraction");
  CHECK(about.inputs[3].value == "0.1");
  CHECK(about.inputs[5].value == "0.3");
}

TEST_CASE("an unknown key is refused with the nearest one") {
  CHECK_THROWS_WITH(explain("step_time"), Catch::Contains("step_time_s"));
  CHECK_THROWS_AS(explain(""), InputError);
}

TEST_CASE("waits of a step for its batch, the collector and the host are no computing") {
  Breakdown seconds{};
  seconds[static_cast<std::size_t>(TimeClass::forward)] = 2;
  seconds[static_cast<std::size_t>(TimeClass::backward)] = 4;
  seconds[static_cast<std::size_t>(TimeClass::optimizer)] = 4;
  StepCosts costs;
  CHECK(computing_share(seconds, costs) == Approx(1));
  costs.data_loading_s = 2;
  costs.garbage_collection_s = 0.5;
  costs.host_s = 0.5;
  CHECK(computing_share(seconds, costs) == Approx(0.7));
  CHECK(computing_share({}, costs) == 0);
}
