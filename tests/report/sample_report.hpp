#pragma once
// A report with something in every list, made by hand.

#include "report/report.hpp"

namespace stagecraft {

inline Report sample_report() {
  Report report;
  report.producer = "stagecraft test";
  report.kind = "predicted";
  report.scenario = "sample";
  report.description = "Two stages, \"quoted\", with commas.";
  report.file = "sample.json";
  report.run.model = "toy";
  report.run.parameters = 1.5e9;
  report.run.cluster = "box";
  report.run.gpu = "A100";
  report.run.gpus = 2;
  report.run.pipeline = 2;
  report.run.global_batch = 8;
  report.run.micro_batches = 8;
  report.run.sequence_length = 1024;
  report.run.schedule = "1f1b";
  report.inputs = {8192, 7.5e13, 1e14, 312e12, "bf16", "tokens", 0.9};
  report.step_time_s = {1.0, 0.9, 1.2, Evidence::fitted};
  report.tokens_per_s = {8192, 6827, 9102, Evidence::fitted};
  report.tokens_per_s_per_gpu = {4096, 3413, 4551, Evidence::fitted};
  report.tflops_per_gpu = {37.5, 31.25, 41.7, Evidence::fitted};
  report.mfu = {0.12, 0.1, 0.134, Evidence::fitted};
  report.hfu = {0.16, 0.13, 0.18, Evidence::fitted};
  report.flop_convention = "gemm-full-attention";
  report.bubble_fraction = {0.125, 0.12, 0.13, Evidence::fitted};
  report.peak_memory_bytes = {60.0 * 1073741824, 55.0 * 1073741824, 65.0 * 1073741824, Evidence::borrowed};
  report.memory_limit_bytes = 80.0 * 1073741824;
  report.breakdown = {0.25, 0.5, 0, 0, 0.0625, 0, 0.0625, 0, 0.0625, 0.0625, 0};
  report.critical_path = {0.25, 0.5, 0, 0, 0.125, 0, 0.0625, 0, 0.0625, 0, 0};
  report.critical_path_busiest_rank = 1;
  report.critical_path_spans = 40;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    ReportStage stage;
    stage.pipeline_rank = stage.rank = rank;
    stage.stages = {rank};
    stage.layers = "blocks 0-3";
    stage.parameters = 7.5e8;
    stage.peak_memory_bytes = report.peak_memory_bytes;
    stage.peak_op = "0F1";
    stage.seconds = report.breakdown;
    report.stages.push_back(stage);
  }
  report.published.push_back(
      {"tflops_per_gpu", "megatron-sc21", "a paper, Table 1", 40, {37.5, 31, 42, Evidence::fitted}, -0.0625});
  report.defaults.push_back({"/overlap/pipeline", "true", "what frameworks do"});
  report.calibration = "a100+megatron";
  report.constants.push_back({"gemm/bf16/ceiling", "fraction", {0.8, 0.05, Evidence::fitted, "a paper"}});
  report.calibration_notes = {"a note"};
  report.outside_measured_range = {"k = 64 is below 128"};
  report.findings.push_back({Severity::warning, "some-code", "/batch/micro", "a message", "4"});
  return report;
}

}  // namespace stagecraft
