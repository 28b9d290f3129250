#include "report/make_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cost/flops.hpp"
#include "estimate/estimated_trace.hpp"
#include "estimate/jitter.hpp"
#include "estimate/steady_state.hpp"
#include "memory/footprint.hpp"
#include "memory/overhead.hpp"
#include "report/figures.hpp"
#include "report/layer_names.hpp"
#include "report/published.hpp"
#include "spec/precision.hpp"

namespace stagecraft {
namespace {

constexpr const char* default_convention = "gemm-full-attention";

/// amount / time: the most time gives the least rate.
Figure rate(double amount, const Figure& time) {
  const auto over = [&](double seconds) { return seconds > 0 ? amount / seconds : 0.0; };
  return {over(time.value), over(time.high), over(time.low), time.evidence};
}

/// "A100-SXM4-80GB", or where nodes differ "A100-SXM4-80GB (32), H100-SXM5-80GB (16)".
std::string gpus_of(const Plan& plan) {
  if (plan.other_gpus.empty()) return plan.gpu.name;
  std::vector<std::pair<std::string, int>> counts;
  for (std::int32_t rank = 0; rank < world_size(plan.degrees); ++rank) {
    const std::string& name = gpu_spec_of(plan, Rank(rank)).name;
    const auto known = std::find_if(counts.begin(), counts.end(), [&](const auto& each) { return each.first == name; });
    known == counts.end() ? static_cast<void>(counts.emplace_back(name, 1)) : static_cast<void>(++known->second);
  }
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, count);
  return text;
}

ReportRun run_of(const ReportSources& from) {
  const RunSpec& run = from.plan.run;
  ReportRun out;
  out.model = from.scenario.model.name;
  out.parameters = parameters_of(from.plan.model);
  out.cluster = from.scenario.cluster.name;
  out.gpu = gpus_of(from.plan);
  out.gpus = world_size(from.plan.degrees);
  out.nodes = (out.gpus + from.topology.gpus_per_node - 1) / from.topology.gpus_per_node;
  out.schedule = from.schedule.name;
  out.precision = to_text(run.precision);
  out.recompute = to_text(run.recompute);
  out.attention_kernel = to_text(run.attention_kernel);
  out.tensor = from.plan.degrees.tensor;
  out.context = from.plan.degrees.context;
  out.expert = from.plan.degrees.expert;
  out.pipeline = from.plan.degrees.pipeline;
  out.data = from.plan.degrees.data;
  out.virtual_stages = from.schedule.shape.chunks;
  out.global_batch = run.batch.global;
  out.micro_batch = run.batch.micro;
  out.micro_batches = from.plan.micro_batches;
  out.sequence_length = std::max<std::int64_t>(run.sequence_length, 1);
  out.zero_stage = run.zero_stage;
  out.sequence_parallel = run.parallel.sequence_parallel;
  out.steps = from.trace.steps;
  return out;
}

void add_rates(Report& report, const ReportSources& from) {
  ReportInputs& inputs = report.inputs;
  inputs.tokens_per_step = tokens_of_step(from.plan);
  const FlopConvention& flops = flop_convention(default_convention, report.file);
  inputs.model_flops = flops.of_step(from.plan).value;
  inputs.hardware_flops = hardware_flops_of_step(from.plan).value;
  const Dtype dtype = number_formats(from.plan.run.precision).gemm;
  inputs.peak_dtype = to_text(dtype);
  inputs.data_unit = from.plan.model.plain_layers.empty() ? "tokens" : "samples";
  inputs.peak_flops_per_gpu = mean_peak(from.plan, dtype);

  const double gpus = static_cast<double>(report.run.gpus);
  report.tokens_per_s = rate(inputs.tokens_per_step, report.step_time_s);
  report.tokens_per_s_per_gpu = rate(inputs.tokens_per_step / gpus, report.step_time_s);
  report.tflops_per_gpu = rate(inputs.model_flops / gpus / 1e12, report.step_time_s);
  report.mfu = rate(inputs.model_flops / gpus / inputs.peak_flops_per_gpu, report.step_time_s);
  report.hfu = rate(inputs.hardware_flops / gpus / inputs.peak_flops_per_gpu, report.step_time_s);
  report.flop_convention = flops.name;
  report.flop_convention_formula = flops.formula;
  report.flop_convention_source = flops.source;
}

/// The closed form's summary if every node took `duration_s`.
Summary closed_form(const ReportSources& from, const std::vector<double>& duration_s) {
  Estimate bent;
  bent.costs.tensor_s.assign(duration_s.size(), 0);
  bent.steps.resize(from.estimate.steps.size());
  std::vector<double> earliest_s;
  for (std::size_t step = 0; step < bent.steps.size(); ++step) {
    if (step > 0) carry_over(from.graph, bent.steps[step - 1], earliest_s);
    longest_path(from.graph, duration_s, earliest_s, bent.steps[step]);
  }
  const Trace trace = to_trace(bent, from.plan, from.schedule, from.graph, from.topology);
  return summarise(trace, from.schedule).summary;
}

/// What was played, moved by what the ends of all intervals do to the closed form: the step time by the ratio, the
/// bubble by the difference.
void add_time_and_bubble(Report& report, const ReportSources& from) {
  const NodeCosts& costs = from.estimate.costs;
  const Summary expected = closed_form(from, costs.expected_s), low = closed_form(from, costs.low_s),
                high = closed_form(from, costs.high_s);
  const Evidence evidence = evidence_of(costs);
  const double step_s = from.summary.step_s;
  const double scale = expected.step_s > 0 ? step_s / expected.step_s : 1;
  report.step_time_s = {step_s, low.step_s * scale, high.step_s * scale, evidence};
  report.inputs.estimate_step_time_s = expected.step_s;
  report.ramp_up = ramp_up(from.scenario, from.costs, from.topology, {step_s});

  const double bubble = from.summary.bubble_fraction;
  const double at_low = low.bubble_fraction - expected.bubble_fraction,
               at_high = high.bubble_fraction - expected.bubble_fraction;
  report.bubble_fraction = {bubble, std::clamp(bubble + std::min({at_low, at_high, 0.0}), 0.0, 1.0),
                            std::clamp(bubble + std::max({at_low, at_high, 0.0}), 0.0, 1.0), evidence};
}

std::vector<std::int32_t> stages_on(const Schedule& schedule, PipelineRank rank) {
  std::vector<std::int32_t> stages;
  for (const StageMap& replica : schedule.placement) {
    for (std::size_t stage = 0; stage < replica.size(); ++stage) {
      if (replica[stage] == rank) stages.push_back(static_cast<std::int32_t>(stage));
    }
  }
  std::sort(stages.begin(), stages.end());
  return stages;
}

/// Published readings lie from 0.1 % under to 5.4 % over such predictions (36 readings of Megatron-LM since 2023,
/// docs/memory-model.md); rounded outwards.
Figure around(Bytes peak) {
  return {peak.value, peak.value * 0.99, peak.value * 1.06, Evidence::measured};
}

void add_stages(Report& report, const ReportSources& from) {
  const std::vector<StageMemory> held = stage_memories(from.plan);
  for (std::size_t i = 0; i < from.memory.size(); ++i) {
    const MemoryPeak& peak = from.memory[i];
    ReportStage stage;
    stage.pipeline_rank = static_cast<std::int32_t>(i);
    stage.rank = representative(from.plan, PipelineRank(i)).value;
    stage.stages = stages_on(from.schedule, PipelineRank(i));
    stage.layers = layer_names(from.plan, stage.stages);
    for (const std::int32_t s : stage.stages) stage.parameters += held[static_cast<std::size_t>(s)].parameters;
    stage.peak_memory_bytes = around(peak.peak);
    stage.memory = peak.at_peak;
    stage.dominating = dominating_class(peak.at_peak);
    stage.peak_op = to_text(from.schedule.programs[i][peak.peak_op]);
    stage.fits = fits(peak);
    for (const RankSummary& rank : from.summary.ranks) {
      if (rank.rank.rank == stage.rank) stage.seconds = rank.seconds;
    }
    report.fits = report.fits && stage.fits;
    if (peak.peak.value * report.memory_limit_bytes > report.peak_memory_bytes.value * peak.limit.value || i == 0) {
      report.peak_memory_bytes = stage.peak_memory_bytes;  // of the rank that has the least room left
      report.memory_limit_bytes = peak.limit.value;
    }
    report.stages.push_back(std::move(stage));
  }
}

void add_calibration(Report& report, const ReportSources& from) {
  const Calibration& calibration = from.costs.calibration;
  report.calibration = calibration.name;
  report.calibration_hardware = calibration.hardware;
  report.calibration_software = calibration.software;
  report.constants = list_constants(calibration);
  report.calibration_notes = calibration.notes;
  for (std::size_t i = 0; i < calibration.other_kinds.size(); ++i) {
    report.calibration_notes.push_back(fmt::format("{} on nodes as in {}", calibration.other_kinds[i].name,
                                                   from.scenario.cluster.other_nodes[i].cluster));
  }
  report.outside_measured_range = outside_measured_range(from.costs, from.schedule, from.plan);
}

void add_training(Report& report, const ReportSources& from) {
  const TrainingSpec& training = from.scenario.run.training;
  const double gpus = static_cast<double>(report.run.gpus);
  report.training = training_run(training, {report.step_time_s.value, report.inputs.tokens_per_step, gpus,
                                            computing_share(report.breakdown, report.costs), report.ramp_up.lost_s});
  report.jitter =
      jittered_steps(training.jitter, from.estimate.costs, from.schedule, from.graph, from.plan.degrees.data);
}

}  // namespace

Report make_report(const ReportSources& from) {
  Report report;
  report.producer = from.trace.producer;
  report.kind = from.trace.kind;
  report.scenario = from.scenario.name;
  report.description = from.scenario.description;
  report.file = from.scenario.path;
  report.run = run_of(from);
  add_time_and_bubble(report, from);
  add_rates(report, from);
  report.breakdown = from.summary.mean;
  report.costs = step_costs(from.plan, from.schedule, from.costs, from.topology);
  add_training(report, from);
  report.critical_path = from.summary.critical_path.seconds;
  report.critical_path_busiest_rank = from.summary.critical_path.busiest_rank;
  report.critical_path_spans = static_cast<std::int64_t>(from.summary.critical_path.spans.size());
  add_stages(report, from);
  report.published = published_rows(report, from.scenario, from.plan);
  report.defaults = from.scenario.defaults;
  add_calibration(report, from);
  report.findings = from.findings;
  return report;
}

}  // namespace stagecraft
