#pragma once
// Everything that `simulate` tells, as plain values; text, JSON, CSV and Markdown print the same ones. docs/report.md
// describes every key.

#include <cstdint>
#include <string>
#include <vector>

#include "base/findings.hpp"
#include "cost/calibration.hpp"
#include "estimate/jittered_steps.hpp"
#include "estimate/ramp_up.hpp"
#include "estimate/step_costs.hpp"
#include "estimate/training_run.hpp"
#include "memory/memory_class.hpp"
#include "spec/scenario.hpp"
#include "trace/time_class.hpp"

namespace stagecraft {

inline constexpr int report_version = 1;

/// A predicted figure with its interval and what it rests on.
struct Figure {
  double value = 0, low = 0, high = 0;
  Evidence evidence = Evidence::borrowed;
};

/// What was run, in the scenario's words.
struct ReportRun {
  std::string model, cluster, gpu, schedule, precision, recompute, attention_kernel;
  double parameters = 0;
  std::int64_t gpus = 1, nodes = 1;
  std::int64_t tensor = 1, context = 1, expert = 1, pipeline = 1, data = 1, virtual_stages = 1;
  std::int64_t global_batch = 1, micro_batch = 1, micro_batches = 1, sequence_length = 1, zero_stage = 0;
  bool sequence_parallel = false;
  std::int64_t steps = 1;  // run in a row; the last one is reported
};

/// The amounts that rates are computed from.
struct ReportInputs {
  double tokens_per_step = 0;
  double model_flops = 0;         // of the whole job and one step, by the convention
  double hardware_flops = 0;      // executed, recompute included
  double peak_flops_per_gpu = 0;  // per second, of the dtype below
  std::string peak_dtype;
  std::string data_unit;            // "tokens", or "samples" for a model of plain layers
  double estimate_step_time_s = 0;  // closed form, without contention
};

/// One pipeline rank and the stages that it holds.
struct ReportStage {
  std::int32_t pipeline_rank = 0, rank = 0;  // rank: the global rank that stands for it
  std::vector<std::int32_t> stages;
  std::string layers;     // "embedding, blocks 0-4, blocks 40-44"
  double parameters = 0;  // on one GPU
  Figure peak_memory_bytes;
  MemoryByClass memory{};  // at the peak
  MemoryClass dominating = MemoryClass::activations;
  std::string peak_op;  // the operation that runs at the peak
  bool fits = true;
  Breakdown seconds{};
};

/// A published figure beside the same one predicted.
struct ReportPublished {
  std::string key, flop_convention, source;
  double published = 0;
  Figure predicted;
  double error = 0;  // predicted / published - 1
};

struct Report {
  std::string producer, kind;  // kind: "predicted" (simulated) or "estimated" (closed form)
  std::string scenario, description, file;
  ReportRun run;
  ReportInputs inputs;

  Figure step_time_s, tokens_per_s, tokens_per_s_per_gpu, tflops_per_gpu, mfu, hfu;
  std::string flop_convention, flop_convention_formula, flop_convention_source;
  Figure bubble_fraction, peak_memory_bytes;
  RampUp ramp_up;
  TrainingRun training;
  JitteredSteps jitter;
  double memory_limit_bytes = 0;
  bool fits = true;

  Breakdown breakdown{};      // seconds, mean over the GPUs
  Breakdown critical_path{};  // seconds
  StepCosts costs;            // contained in the breakdown
  std::int32_t critical_path_busiest_rank = -1;
  std::int64_t critical_path_spans = 0;

  std::vector<ReportStage> stages;
  std::vector<ReportPublished> published;
  std::vector<ChosenDefault> defaults;
  std::string calibration, calibration_hardware, calibration_software;
  std::vector<ConstantLine> constants;
  std::vector<std::string> calibration_notes;
  std::vector<std::string> outside_measured_range;
  Findings findings;  // warnings and notes
};

}  // namespace stagecraft
