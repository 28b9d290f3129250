// Reports of all scenarios that are shipped.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "run_program.hpp"

using namespace stagecraft;
using Json = nlohmann::json;

namespace {

std::vector<std::string> all_scenarios() {
  std::vector<std::string> paths;
  for (const char* folder : {"/scenarios", "/scenarios/lessons"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(STAGECRAFT_SOURCE_DIR) + folder)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool is_valid(const Json& document) {
  const Json schema_json = Json::parse(run_program({"schema", "report"}).output);
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), schema);
  valijson::Validator validator;
  return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
}

double sum(const Json& breakdown) {
  double seconds = 0;
  for (const auto& [name, part] : breakdown.items()) seconds += part.at("time_s").get<double>();
  return seconds;
}

}  // namespace

TEST_CASE("the report of every shipped scenario is valid and adds up") {
  const std::vector<std::string> paths = all_scenarios();
  REQUIRE(paths.size() >= 20);
  for (const std::string& path : paths) {
    INFO(path);
    const Outcome outcome = run_program({"simulate", path, "--estimate", "--format", "json"});
    CHECK((outcome.exit_code == 0 || outcome.exit_code == 4));
    CHECK(outcome.messages == "");
    const Json report = Json::parse(outcome.output);
    CHECK(is_valid(report));
    CHECK(report.at("fits").get<bool>() == (outcome.exit_code == 0));
    const double step_s = report.at("step_time_s");
    CHECK(step_s > 0);
    CHECK(sum(report.at("breakdown")) == Approx(step_s));
    CHECK(sum(report.at("critical_path")) == Approx(step_s));
    for (const Json& stage : report.at("stages")) CHECK(sum(stage.at("breakdown")) == Approx(step_s));
    CHECK(report.at("step_time_s_low").get<double>() <= step_s);
    CHECK(report.at("step_time_s_high").get<double>() >= step_s);
    CHECK(report.at("stages").size() == report.at("run").at("pipeline"));
    CHECK(report.at("tokens_per_s").get<double>() * step_s ==
          Approx(report.at("inputs").at("tokens_per_step").get<double>()));
  }
}

TEST_CASE("the rows of the Megatron-LM paper are predicted within 15 percent, by 8 percent on average") {
  double total_error = 0;
  int rows = 0;
  for (const std::string& path : all_scenarios()) {
    if (path.find("-selene") == std::string::npos) continue;
    const Json report = Json::parse(run_program({"simulate", path, "--estimate", "--format", "json"}).output);
    for (const Json& row : report.at("published")) {
      if (row.at("key") != "tflops_per_gpu") continue;
      INFO(path);
      const double error = std::abs(row.at("error").get<double>());
      CHECK(error < 0.15);
      total_error += error;
      ++rows;
    }
  }
  REQUIRE(rows == 10);
  CHECK(total_error / rows < 0.08);
}

TEST_CASE("with a barrier between steps, the third step takes as long as the first") {
  const auto report = [](const char* steps) {
    return Json::parse(
        run_program({"simulate", shipped("gpt-1.7b-selene"), "--estimate", "--format", "json", "--steps", steps})
            .output);
  };
  const Json one = report("1"), three = report("3");
  CHECK(three.at("run").at("steps") == 3);
  CHECK(three.at("step_time_s").get<double>() == Approx(one.at("step_time_s").get<double>()));
}
