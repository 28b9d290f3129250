#include "report/figures.hpp"
#include "report/keys.hpp"

namespace stagecraft {

std::vector<ReportKey> keys_of_figures() {
  std::vector<ReportKey> keys;
  add_figure_keys(
      keys,
      {"step_time_s",
       "number",
       "Seconds of one training step, optimizer included.",
       "end of the last operation of the last step - end of the step before; it is the sum of critical_path",
       {"run.steps", "inputs.estimate_step_time_s", "critical_path.forward.time_s", "critical_path.backward.time_s",
        "critical_path.recompute.time_s", "critical_path.tensor_communication.time_s",
        "critical_path.context_communication.time_s", "critical_path.expert_communication.time_s",
        "critical_path.pipeline_communication.time_s", "critical_path.data_communication.time_s",
        "critical_path.host_copies.time_s", "critical_path.bubble_warmup.time_s", "critical_path.bubble_steady.time_s",
        "critical_path.bubble_cooldown.time_s", "critical_path.optimizer.time_s", "critical_path.other.time_s"}});
  add_figure_keys(keys, {"tokens_per_s",
                         "number",
                         "Tokens trained per second by the whole job.",
                         "inputs.tokens_per_step / step_time_s",
                         {"inputs.tokens_per_step", "step_time_s"}});
  add_figure_keys(keys, {"tokens_per_s_per_gpu",
                         "number",
                         "Tokens trained per second and GPU.",
                         "tokens_per_s / run.gpus",
                         {"tokens_per_s", "run.gpus"}});
  add_figure_keys(keys, {"tflops_per_gpu",
                         "number",
                         "Model TFLOP/s per GPU (1e12 per second), counted by flop_convention.",
                         "inputs.model_flops / (run.gpus x step_time_s) / 1e12",
                         {"inputs.model_flops", "run.gpus", "step_time_s", "flop_convention"}});
  add_figure_keys(keys, {"mfu",
                         "number",
                         "Model FLOP/s utilisation, a fraction: recomputation does not count as work.",
                         "inputs.model_flops / (run.gpus x inputs.peak_flops_per_s_per_gpu x step_time_s)",
                         {"inputs.model_flops", "run.gpus", "inputs.peak_flops_per_s_per_gpu", "inputs.peak_dtype",
                          "step_time_s"}});
  add_figure_keys(keys, {"hfu",
                         "number",
                         "Hardware FLOP/s utilisation, a fraction: recomputation counts.",
                         "inputs.hardware_flops / (run.gpus x inputs.peak_flops_per_s_per_gpu x step_time_s)",
                         {"inputs.hardware_flops", "run.gpus", "inputs.peak_flops_per_s_per_gpu", "inputs.peak_dtype",
                          "step_time_s"}});
  add_figure_keys(
      keys,
      {"bubble_fraction",
       "number",
       "Share of the step in which a GPU idles and does not wait for communication, mean over the GPUs.",
       "breakdown.bubble_warmup.fraction + breakdown.bubble_steady.fraction + breakdown.bubble_cooldown.fraction",
       {"breakdown.bubble_warmup.fraction", "breakdown.bubble_steady.fraction", "breakdown.bubble_cooldown.fraction"}});
  ReportKey exposed{"exposed_communication_fraction",
                    "number",
                    "Share of the step in which a GPU waits for communication, mean over the GPUs.",
                    "",
                    {}};
  for (const TimeClass one : exposed_classes) {
    exposed.inputs.push_back(std::string("breakdown.") + key_of(one) + ".fraction");
    exposed.formula += (exposed.formula.empty() ? "" : " + ") + exposed.inputs.back();
  }
  keys.push_back(std::move(exposed));
  add_memory_keys(keys, {"peak_memory_bytes",
                         "number",
                         "Bytes of the fullest GPU at its fullest moment.",
                         "largest stages[].peak_memory_bytes",
                         {"stages[].peak_memory_bytes"}});
  keys.push_back({"memory_limit_bytes",
                  "number",
                  "Bytes that a process can use on the GPU, from the GPU's file.",
                  "",
                  {"run.gpu"}});
  keys.push_back({"fits",
                  "boolean",
                  "Whether every stage stays within the limit.",
                  "peak_memory_bytes <= memory_limit_bytes",
                  {"peak_memory_bytes", "memory_limit_bytes"}});
  keys.push_back(
      {"flop_convention", "string", "How model FLOPs are counted; docs/report.md lists the conventions.", "", {}});
  keys.push_back({"inputs.tokens_per_step",
                  "number",
                  "Tokens of one step over all data-parallel ranks.",
                  "run.global_batch x run.sequence_length",
                  {"run.global_batch", "run.sequence_length"}});
  keys.push_back({"inputs.model_flops",
                  "number",
                  "FLOPs of one step of the whole job by flop_convention.",
                  "3 x the forward GEMMs, attention in full, recomputation not counted (arXiv 2205.05198, appendix A)",
                  {"run.parameters", "inputs.tokens_per_step", "flop_convention"}});
  keys.push_back({"inputs.hardware_flops",
                  "number",
                  "FLOPs of one step that the GPUs execute, recomputation included.",
                  "sum of the FLOPs of all GEMM and attention kernels, as run",
                  {"run.recompute", "run.attention_kernel"}});
  keys.push_back({"inputs.peak_flops_per_s_per_gpu",
                  "number",
                  "Peak FLOP/s of the GPU in inputs.peak_dtype, dense, from the GPU's file.",
                  "",
                  {"run.gpu", "inputs.peak_dtype"}});
  keys.push_back(
      {"inputs.peak_dtype", "string", "Number format of the GEMMs.", "as run.precision says", {"run.precision"}});
  keys.push_back({"inputs.data_unit",
                  "string",
                  "What tokens_per_step and the like count: tokens, or samples for a model of plain layers.",
                  "",
                  {}});
  keys.push_back({"inputs.estimate_step_time_s",
                  "number",
                  "Seconds of the step by the closed form, without contention.",
                  "longest path over the schedule's dependencies with closed-form durations",
                  {}});
  keys.push_back({"ramp_up.sizes",
                  "integer",
                  "Sizes of the global batch before it is whole, by batch.ramp_up; 0 without it.",
                  "(run.global_batch - start) / increment",
                  {"run.global_batch"}});
  keys.push_back({"ramp_up.steps",
                  "number",
                  "Steps until the batch is whole.",
                  "sum over the sizes of samples / ramp_up.sizes / size, rounded up",
                  {"ramp_up.sizes"}});
  keys.push_back({"ramp_up.time_s",
                  "number",
                  "Seconds that these steps take.",
                  "sum over the sizes of steps x closed-form step time x step_time_s / inputs.estimate_step_time_s",
                  {"ramp_up.sizes", "step_time_s", "inputs.estimate_step_time_s"}});
  keys.push_back({"ramp_up.lost_s",
                  "number",
                  "Of these, seconds beyond what the same sequences take in whole batches.",
                  "ramp_up.time_s - sequences / run.global_batch x step_time_s",
                  {"ramp_up.time_s", "run.global_batch", "step_time_s"}});
  return keys;
}

}  // namespace stagecraft
