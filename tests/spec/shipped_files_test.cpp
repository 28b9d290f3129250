#include <algorithm>
#include <filesystem>

#include "base/file_io.hpp"
#include "base/json_reader.hpp"
#include "spec/schema.hpp"
#include "spec_test.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> json_files(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(source_file(directory)))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

void check_schema_reference(const std::string& file, const std::string& name) {
  CAPTURE(file);
  const JsonDocument document = JsonDocument::from_file(file);
  const auto reference = document.root().find("$schema");
  REQUIRE(reference.has_value());
  const fs::path schema = fs::path(file).parent_path() / std::string(reference->raw_string());
  REQUIRE(fs::exists(schema));
  CHECK(read_file(schema.string()) == schema_text(name));
}

}  // namespace

TEST_CASE("every scenario of the tree loads, names itself and points at its schema") {
  for (const std::string& file : json_files("scenarios")) {
    CAPTURE(file);
    const Scenario scenario = load_scenario(file, {}, shipped_library());
    CHECK(scenario.name == fs::path(file).stem().string());
    CHECK_FALSE(scenario.description.empty());
    check_schema_reference(file, "scenario");
  }
}

TEST_CASE("every model, GPU and cluster of the tree loads under its own name and says where its figures are from") {
  for (const std::string& name : model_names(shipped_library())) {
    const ModelSpec model = load_model(name, shipped_library());
    CHECK(model.name == name);
    CHECK_FALSE(model.source.empty());
    check_schema_reference(source_file("scenarios/models/" + name + ".json"), "model");
  }
  for (const std::string& name : cluster_names(shipped_library())) {
    const ClusterSpec cluster = load_cluster(name, shipped_library());
    CHECK(cluster.name == name);
    CHECK_FALSE(cluster.source.empty());
    check_schema_reference(source_file("topologies/clusters/" + name + ".json"), "cluster");
  }
  for (const std::string& file : json_files("topologies/gpus")) {
    const std::string name = fs::path(file).stem().string();
    const ClusterSpec cluster = small({"cluster.gpu=" + name}).cluster;
    CHECK(cluster.gpu.name == name);
    CHECK_FALSE(cluster.gpu.source.empty());
    check_schema_reference(file, "gpu");
  }
}

TEST_CASE("every calibration of the tree satisfies its schema, and a wrong one does not") {
  for (const std::string& file : json_files("topologies/calibrations")) {
    CAPTURE(file);
    const JsonDocument document = JsonDocument::from_file(file);
    CHECK_NOTHROW(check_schema(document.root(), "calibration"));
  }
  for (const char* text : {R"({"kind": "hardware"})", R"({"extends": "nccl", "constants": {"launch_us": 3}})",
                           R"({"extends": "nccl", "gemm": {"fp16": {"ceiling": {"value": "x"}}}})",
                           R"({"extends": "nccl", "constant": {}})"}) {
    CAPTURE(text);
    const JsonDocument document = JsonDocument::from_text(text, "calibration.json");
    CHECK_THROWS_AS(check_schema(document.root(), "calibration"), InputError);
  }
}

TEST_CASE("the SC21 scenarios use all GPUs of the paper's rows") {
  struct Row {
    const char* scenario;
    std::int64_t gpus;
    std::int64_t tensor, pipeline;
    double tflops;
  };
  // arXiv 2104.04473, Table 1.
  const auto row = GENERATE(values<Row>({{"gpt-1.7b", 32, 1, 1, 137},
                                         {"gpt-3.6b", 64, 2, 1, 138},
                                         {"gpt-7.5b", 128, 4, 1, 142},
                                         {"gpt-18.4b", 256, 8, 1, 135},
                                         {"gpt-39.1b", 512, 8, 2, 138},
                                         {"gpt-76.1b", 1024, 8, 4, 140},
                                         {"gpt-145b", 1536, 8, 8, 148},
                                         {"gpt-310b", 1920, 8, 16, 155},
                                         {"gpt-530b", 2520, 8, 35, 163},
                                         {"gpt-1008b", 3072, 8, 64, 163}}));
  CAPTURE(row.scenario);
  const Scenario scenario =
      load_scenario(source_file("scenarios/" + std::string(row.scenario) + "-selene.json"), {}, shipped_library());
  const ParallelSpec& parallel = scenario.run.parallel;
  CHECK(parallel.tensor == row.tensor);
  CHECK(parallel.pipeline == row.pipeline);
  CHECK(parallel.tensor * parallel.pipeline * parallel.data == row.gpus);
  CHECK(scenario.cluster.nodes * 8 == row.gpus);
  CHECK(scenario.run.batch.global % (scenario.run.batch.micro * parallel.data) == 0);
  CHECK(scenario.model.blocks % (parallel.pipeline * parallel.virtual_stages) == 0);
  CHECK(scenario.run.recompute == Recompute::full);
  CHECK(scenario.run.precision == Precision::fp16_mixed);
  REQUIRE(scenario.published.size() == 2);
  CHECK(scenario.published[0].value == row.tflops);
  CHECK(scenario.defaults.empty());

  // The step time follows from the rate: F = 96 B s l h^2 (1 + s / 6h + V / 16 l h), equation 3.
  const auto l = static_cast<double>(scenario.model.blocks);
  const auto h = static_cast<double>(scenario.model.hidden);
  const double flops = 96.0 * static_cast<double>(scenario.run.batch.global) * 2048.0 * l * h * h *
                       (1.0 + 2048.0 / (6.0 * h) + 51200.0 / (16.0 * l * h));
  CHECK(scenario.published[1].key == "step_time_s");
  CHECK(scenario.published[1].value ==
        Approx(flops / (row.tflops * 1e12 * static_cast<double>(row.gpus))).epsilon(1e-3));
}
