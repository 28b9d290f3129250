// The memory model: speed of a verdict, and its error against published readings, per group of records.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "figure.hpp"
#include "memory/overhead.hpp"
#include "memory/timeline.hpp"
#include "schedule/family.hpp"
#include "schedule/lower.hpp"

using namespace stagecraft;

namespace {

using Json = nlohmann::json;

ModelSpec model_of(const Json& record) {
  const bool llama = record.at("llama");
  ModelSpec model;
  model.name = record.at("id");
  model.hidden = record.at("hidden");
  model.blocks = record.at("blocks");
  model.vocabulary = record.at("vocabulary");
  model.sequence_length = record.at("sequence_length");
  model.attention = {record.at("heads"), record.at("kv_heads"), record.at("head_dim"), true, record.at("bias")};
  model.mlp = {record.at("ffn"), record.at("gated"), llama ? Activation::silu : Activation::gelu, record.at("bias")};
  model.norm = llama ? Norm::rms_norm : Norm::layer_norm;
  model.positions = llama ? Positions::rotary : Positions::learned;
  model.tied_embeddings = record.at("tied_embeddings");
  model.dropout = record.at("dropout");
  return model;
}

RunSpec run_of(const Json& record) {
  RunSpec run;
  run.parallel = {record.at("tensor"), record.at("context"),        record.at("pipeline"),
                  record.at("data"),   record.at("virtual_stages"), record.at("sequence_parallel")};
  run.batch.micro = record.at("micro_batch");
  run.batch.global = run.batch.micro * run.parallel.data * record.at("micro_batches").get<std::int64_t>();
  run.sequence_length = record.at("sequence_length");
  if (record.contains("blocks_per_stage")) {
    run.partition = {PartitionRule::explicit_list, record.at("blocks_per_stage")};
  }
  const std::string recompute = record.at("recompute");
  run.recompute = recompute == "full"        ? Recompute::full
                  : recompute == "selective" ? Recompute::selective
                                             : Recompute::none;
  run.attention_kernel =
      record.at("attention") == "flash_2" ? AttentionKernel::flash_2 : AttentionKernel::fused_softmax;
  run.precision = record.at("architecture") == "volta" ? Precision::fp16_mixed : Precision::bf16_mixed;
  run.zero_stage = record.at("zero_stage");
  run.schedule.name = record.at("schedule");
  return run;
}

Plan plan_of(const Json& record) {
  Scenario scenario;
  scenario.model = model_of(record);
  scenario.run = run_of(record);
  GpuSpec& gpu = scenario.cluster.gpu;
  gpu.architecture = record.at("architecture");
  gpu.memory = {80e9};
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) gpu.peak[dtype] = {1e14};
  scenario.cluster.node.devices.assign(8, DeviceSpec{});
  scenario.cluster.nodes = 192;
  return make_plan(scenario);
}

Schedule schedule_of(const Json& record, const Plan& plan) {
  const FamilyEntry* entry = find_schedule(plan.run.schedule.name);
  if (entry == nullptr) throw std::runtime_error("no schedule " + plan.run.schedule.name);
  ScheduleRequest request;
  request.shape = {plan.degrees.pipeline, plan.micro_batches,
                   static_cast<std::int32_t>(plan.run.parallel.virtual_stages)};
  if (record.contains("times_ms")) {
    const std::vector<double> times = record.at("times_ms");
    request.times.forward = {times.at(0)};
    request.times.input_grad = {times.at(1)};
    request.times.weight_grad = {times.at(2)};
    request.times.send = times.at(3);
    request.memory_limit = record.at("memory_limit").get<double>();
  }
  if (!entry->refuse(request).empty()) throw std::runtime_error("refused: " + plan.model.name);
  return lower(entry->generate(request), plan);
}

WeightGradient weight_gradient_of(const std::string& name) {
  if (name == "temporary") return WeightGradient::temporary;
  return name == "cached" ? WeightGradient::cached : WeightGradient::accumulated;
}

/// Bytes that PyTorch's allocator would report at the peak of the rank that the record names.
double predicted_bytes(const Json& record, const Plan& plan, const Schedule& schedule) {
  MemoryOptions options;
  options.recipe = find_recipe(record.at("recipe").get<std::string>());
  options.weight_gradient = weight_gradient_of(record.at("weight_gradient"));
  double outside = 0;
  for (const FixedLine& line : fixed_lines(plan, options)) {
    if (!line.in_allocator) outside += line.bytes.value;
  }
  const std::vector<MemoryPeak> peaks = memory_peaks(plan, schedule, options);
  const std::string rank = record.at("rank");
  std::size_t chosen = rank == "last" ? peaks.size() - 1 : rank == "middle" ? peaks.size() / 2 : 0;
  for (std::size_t r = 0; r < peaks.size() && (rank == "max" || rank == "min"); ++r) {
    if (rank == "max" ? peaks[r].peak > peaks[chosen].peak : peaks[r].peak < peaks[chosen].peak) chosen = r;
  }
  return peaks[chosen].peak.value - outside;
}

void print_group(const std::string& group, std::vector<double> errors, bool json) {
  double mean = 0, bias = 0;
  for (double& error : errors) {
    bias += error / static_cast<double>(errors.size());
    error = std::abs(error);
    mean += error / static_cast<double>(errors.size());
  }
  std::sort(errors.begin(), errors.end());
  const auto quantile = [&](double q) {
    return errors[static_cast<std::size_t>(std::ceil(q * static_cast<double>(errors.size()))) - 1];
  };
  const std::string name = "memory/" + group + "/";
  const std::string count = fmt::format("{} readings", errors.size());
  bench::print({name + "mean-error", mean, "%", 3.0, "target, " + count}, json);
  bench::print({name + "median-error", quantile(0.5), "%", {}, ""}, json);
  bench::print({name + "p90-error", quantile(0.9), "%", {}, ""}, json);
  bench::print({name + "worst-error", errors.back(), "%", 8.0, "target"}, json);
  bench::print({name + "bias", bias, "%", {}, ""}, json);
}

void measure_errors(bool json, bool each) {
  std::ifstream file(std::string(STAGECRAFT_SOURCE_DIR) + "/tests/golden/memory_measured.json");
  const Json golden = Json::parse(file);
  std::map<std::string, std::vector<double>> errors;
  for (const Json& record : golden.at("records")) {
    const Plan plan = plan_of(record);
    const double predicted = predicted_bytes(record, plan, schedule_of(record, plan));
    const double measured = record.at("bytes");
    const double error = 100 * (predicted / measured - 1);
    errors[record.at("group")].push_back(error);
    if (each) {
      fmt::print(stderr, "{:<58} {:>8.3f} {:>8.3f} GiB {:>+7.2f} %\n", record.at("id").get<std::string>(),
                 predicted / 1073741824.0, measured / 1073741824.0, error);
    }
  }
  for (const auto& [group, values] : errors) print_group(group, values, json);
}

void measure_speed(bool json) {
  // The 145.6B row of arXiv 2104.04473, table 1: p = 8, m = 48, v = 2 on 1536 GPUs.
  const Json record = {{"id", "gpt-145b"},
                       {"llama", false},
                       {"bias", true},
                       {"hidden", 12288},
                       {"blocks", 80},
                       {"heads", 96},
                       {"kv_heads", 96},
                       {"head_dim", 128},
                       {"ffn", 49152},
                       {"gated", false},
                       {"vocabulary", 51200},
                       {"sequence_length", 2048},
                       {"tied_embeddings", true},
                       {"dropout", 0.1},
                       {"tensor", 8},
                       {"context", 1},
                       {"pipeline", 8},
                       {"data", 24},
                       {"virtual_stages", 2},
                       {"sequence_parallel", false},
                       {"micro_batch", 2},
                       {"micro_batches", 48},
                       {"recompute", "full"},
                       {"attention", "fused_softmax"},
                       {"architecture", "ampere"},
                       {"zero_stage", 0},
                       {"schedule", "interleaved-1f1b"}};
  const Plan plan = plan_of(record);
  const Schedule schedule = schedule_of(record, plan);
  double guard = 0;
  const double seconds = bench::median_seconds(201, [&] { guard += memory_peaks(plan, schedule)[0].peak.value; });
  bench::print({"memory/verdict-145b-p8-m48-v2", seconds * 1e3, "ms", 0.2, "limit"}, json);
  if (!(guard > 0)) throw std::runtime_error("no memory predicted");
}

}  // namespace

int main(int argc, char** argv) try {
  // `--each` prints every record to stderr.
  const bool each = argc > 1 && std::string(argv[argc - 1]) == "--each";
  const bool json = bench::wants_json(each ? argc - 1 : argc, argv);
  measure_speed(json);
  measure_errors(json, each);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
