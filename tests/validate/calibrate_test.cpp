#include "validate/calibrate.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/input_error.hpp"

using namespace stagecraft;

namespace {

const Library library{
    {std::string(STAGECRAFT_SOURCE_DIR) + "/scenarios", std::string(STAGECRAFT_SOURCE_DIR) + "/topologies"}};

/// A GPT on 8 A100 of a DGX; micro-batches of 1 to `n` sequences.
std::vector<Record> runs(std::int64_t n) {
  std::vector<Record> records;
  for (std::int64_t i = 1; i <= n; ++i) {
    Record record;
    record.id = "run-" + std::to_string(i);
    record.group = "sc21";
    record.kind = "measured";
    record.gpu = "A100-SXM4-80GB";
    record.interconnect = "Selene";
    record.gpus = 8;
    record.model.layers = 4;
    record.model.hidden = 4096;
    record.model.heads = 32;
    record.model.sequence = 2048;
    record.parallel.tensor = 1;
    record.micro_batch = i;
    record.global_batch = 8 * i * 4;
    record.precision = "fp16 mixed";
    record.recompute = "full";
    record.measured.step_time_s = 1;
    records.push_back(std::move(record));
  }
  return records;
}

CalibrateRequest ceiling() {
  return {"a100-hdr+megatron-2021", "", {"gemm/fp16/ceiling"}};
}

}  // namespace

TEST_CASE("a fit finds the ceiling that the measured times were made with") {
  std::vector<Record> records = runs(10);
  // Times of a machine that is 5 % slower in all.
  const FittedProfile probe = calibrate(records, ceiling(), library);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Outcome outcome = predict(records[i], library);
    records[i].measured.step_time_s = outcome.step_time->predicted * 1.05;
  }
  const FittedProfile fitted = calibrate(records, ceiling(), library);
  REQUIRE(fitted.constants.size() == 1);
  const FittedConstant& found = fitted.constants.front();
  CHECK(found.after < found.before);
  CHECK(found.interval.low <= found.after);
  CHECK(found.interval.high >= found.after);
  CHECK(fitted.before.mean == Approx(1 - 1 / 1.05).epsilon(0.01));
  CHECK(fitted.after.mean < fitted.before.mean / 3);
  CHECK(probe.residuals.size() == 10);
}

TEST_CASE("a fit goes as far as the records ask for, and its interval holds what it found") {
  std::vector<Record> records = runs(10);
  for (const double slower : {0.85, 1.5, 2.0}) {
    CAPTURE(slower);
    records = runs(10);
    for (Record& record : records) record.measured.step_time_s = predict(record, library).step_time->predicted * slower;
    const FittedProfile fitted = calibrate(records, ceiling(), library);
    const FittedConstant& found = fitted.constants.front();
    CHECK(fitted.after.mean < 0.05);
    CHECK(std::abs(fitted.after.bias) < 0.03);
    CHECK(found.interval.low < found.after);
    CHECK(found.interval.high > found.after);
    CHECK_FALSE(found.at_the_edge);
  }
}

TEST_CASE("a fit that would need more than ten times a constant says that the records do not determine it") {
  std::vector<Record> records = runs(10);
  for (Record& record : records) record.measured.step_time_s = predict(record, library).step_time->predicted * 100;
  CHECK(calibrate(records, ceiling(), library).constants.front().at_the_edge);
}

TEST_CASE("a fit goes no further than a profile may hold the constant, and says so") {
  std::vector<Record> records = runs(10);
  for (Record& record : records) record.measured.step_time_s = predict(record, library).step_time->predicted * 0.3;
  const FittedProfile fitted = calibrate(records, ceiling(), library);
  const FittedConstant& found = fitted.constants.front();
  CHECK(found.at_the_edge);
  CHECK(found.after == Approx(largest_value("gemm/fp16/ceiling")));
  const auto profile = nlohmann::json::parse(profile_json(fitted));
  CHECK(profile.at("gemm").at("fp16").at("ceiling").at("value").get<double>() <= 1.25);
}

TEST_CASE("the written profile extends the fitted one and loads") {
  FittedProfile fitted = calibrate(runs(10), ceiling(), library);
  const auto profile = nlohmann::json::parse(profile_json(fitted));
  CHECK(profile.at("extends") == "a100-hdr");
  CHECK(profile.at("gemm").at("fp16").at("ceiling").at("evidence") == "fitted");
}

TEST_CASE("more constants than a tenth of the records are refused, and records that do not use the profile") {
  CHECK_THROWS_AS(calibrate(runs(9), ceiling(), library), InputError);
  CHECK_THROWS_AS(calibrate(runs(10), {"h100-ndr+megatron-2024", "", {"gemm/fp16/ceiling"}}, library), InputError);
}

TEST_CASE("a constant of a collective is written where the loader looks for it") {
  FittedProfile fitted;
  fitted.hardware = "a100-hdr";
  fitted.constants.push_back({{"collectives/node/all_reduce/bus_GBps"}, 230, 240, {235, 245}, false});
  const auto profile = nlohmann::json::parse(profile_json(fitted));
  CHECK(profile.at("collectives").at("node/all_reduce").at("bus_GBps").at("value") == 240);
}
