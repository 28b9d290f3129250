#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "report/formats.hpp"
#include "report/keys.hpp"
#include "report/schema.hpp"
#include "sample_report.hpp"

using namespace stagecraft;
using Json = nlohmann::json;

namespace {

bool is_valid(const Json& document) {
  const Json schema_json = Json::parse(report_schema_text());
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), schema);
  valijson::Validator validator;
  return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
}

void collect(const Json& value, const std::string& path, std::set<std::string>& paths) {
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) {
      std::string deeper = path;
      if (!deeper.empty()) deeper += '.';
      collect(inner, deeper.append(name), paths);
    }
  } else if (value.is_array()) {
    for (const Json& inner : value) collect(inner, std::string(path).append("[]"), paths);
  } else {
    paths.insert(path);
  }
}

}  // namespace

TEST_CASE("the JSON form is valid against its schema") {
  CHECK(is_valid(Json::parse(to_json(sample_report()))));
}

TEST_CASE("the schema refuses a missing, an unknown and a wrongly typed key") {
  const Json good = Json::parse(to_json(sample_report()));
  Json missing = good, unknown = good, wrong = good, deep = good;
  missing.erase("mfu");
  unknown["extra"] = 1;
  wrong["step_time_s"] = "1 s";
  deep["stages"][1]["memory"].erase("activations_bytes");
  CHECK_FALSE(is_valid(missing));
  CHECK_FALSE(is_valid(unknown));
  CHECK_FALSE(is_valid(wrong));
  CHECK_FALSE(is_valid(deep));
}

TEST_CASE("the table of keys holds every key of the JSON form and no other") {
  std::set<std::string> written, listed;
  collect(Json::parse(to_json(sample_report())), "", written);
  for (const ReportKey& key : report_keys()) {
    CHECK(listed.insert(key.path).second);
    CHECK(!key.meaning.empty());
  }
  CHECK(written == listed);
}

TEST_CASE("the keys that other programs rely on keep their names") {
  const Json report = Json::parse(to_json(sample_report()));
  for (const char* key : {"version",
                          "step_time_s",
                          "step_time_s_low",
                          "step_time_s_high",
                          "step_time_s_evidence",
                          "tokens_per_s",
                          "tokens_per_s_per_gpu",
                          "tflops_per_gpu",
                          "mfu",
                          "hfu",
                          "flop_convention",
                          "bubble_fraction",
                          "peak_memory_bytes",
                          "memory_limit_bytes",
                          "stages",
                          "breakdown",
                          "critical_path",
                          "defaults",
                          "calibration",
                          "published"}) {
    CHECK(report.contains(key));
  }
}

TEST_CASE("the fractions of a breakdown add up to 1") {
  const Json report = Json::parse(to_json(sample_report()));
  for (const char* key : {"breakdown", "critical_path"}) {
    double sum = 0;
    for (const auto& [name, part] : report.at(key).items()) sum += part.at("fraction").get<double>();
    CHECK(sum == Approx(1));
  }
}

TEST_CASE("text from outside that is not UTF-8 does not break the JSON form") {
  Report report = sample_report();
  report.description = "\xff\xfe";
  CHECK_NOTHROW(Json::parse(to_json(report)));
}
