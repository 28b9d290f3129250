#include <nlohmann/json.hpp>

#include "report/figures.hpp"
#include "report/formats.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

void put_figure(Json& object, const std::string& key, const Figure& figure) {
  object[key] = figure.value;
  object[key + "_low"] = figure.low;
  object[key + "_high"] = figure.high;
  object[key + "_evidence"] = to_text(figure.evidence);
}

Json form_of(const ReportRun& run) {
  return {{"model", run.model},
          {"parameters", run.parameters},
          {"cluster", run.cluster},
          {"gpu", run.gpu},
          {"gpus", run.gpus},
          {"nodes", run.nodes},
          {"tensor", run.tensor},
          {"context", run.context},
          {"expert", run.expert},
          {"pipeline", run.pipeline},
          {"data", run.data},
          {"virtual_stages", run.virtual_stages},
          {"sequence_parallel", run.sequence_parallel},
          {"global_batch", run.global_batch},
          {"micro_batch", run.micro_batch},
          {"micro_batches", run.micro_batches},
          {"sequence_length", run.sequence_length},
          {"schedule", run.schedule},
          {"precision", run.precision},
          {"recompute", run.recompute},
          {"attention_kernel", run.attention_kernel},
          {"zero_stage", run.zero_stage},
          {"steps", run.steps}};
}

Json form_of(const TrainingRun& training) {
  return {{"steps", training.steps},
          {"goodput", training.goodput},
          {"failures_per_day", training.failures_per_day},
          {"checkpoint_interval_s", training.checkpoint_interval_s},
          {"time_s", training.time_s},
          {"gpu_hours", training.gpu_hours},
          {"cost", training.cost},
          {"cost_per_million_tokens", training.cost_per_million_tokens},
          {"energy_kwh", training.energy_kwh},
          {"joules_per_token", training.joules_per_token}};
}

Json form_of(const ReportInputs& inputs) {
  return {{"tokens_per_step", inputs.tokens_per_step},
          {"model_flops", inputs.model_flops},
          {"hardware_flops", inputs.hardware_flops},
          {"peak_flops_per_s_per_gpu", inputs.peak_flops_per_gpu},
          {"peak_dtype", inputs.peak_dtype},
          {"data_unit", inputs.data_unit},
          {"estimate_step_time_s", inputs.estimate_step_time_s}};
}

/// {"forward": {"time_s": ..., "fraction": ...}, ...}; the fractions add up to 1.
Json form_of(const Breakdown& seconds) {
  const double whole = total(seconds);
  Json object = Json::object();
  for (std::size_t i = 0; i < time_class_count; ++i) {
    object[key_of(static_cast<TimeClass>(i))] = {{"time_s", seconds[i]},
                                                 {"fraction", whole > 0 ? seconds[i] / whole : 0.0}};
  }
  return object;
}

Json form_of(const ReportStage& stage) {
  Json object = {{"pipeline_rank", stage.pipeline_rank},
                 {"rank", stage.rank},
                 {"stages", stage.stages},
                 {"layers", stage.layers},
                 {"parameters_per_gpu", stage.parameters}};
  put_figure(object, "peak_memory_bytes", stage.peak_memory_bytes);
  Json memory = Json::object();
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    memory[std::string(to_text(static_cast<MemoryClass>(i))) + "_bytes"] = stage.memory[i].value;
  }
  object["memory"] = std::move(memory);
  object["dominating_class"] = to_text(stage.dominating);
  object["peak_op"] = stage.peak_op;
  object["fits"] = stage.fits;
  object["breakdown"] = form_of(stage.seconds);
  return object;
}

Json form_of(const ReportPublished& row) {
  Json object = {{"key", row.key}, {"published", row.published}};
  put_figure(object, "predicted", row.predicted);
  object["error"] = row.error;
  object["flop_convention"] = row.flop_convention;
  object["source"] = row.source;
  return object;
}

Json calibration_of(const Report& report) {
  Json constants = Json::array();
  for (const ConstantLine& entry : report.constants) {
    constants.push_back({{"name", entry.name},
                         {"value", entry.constant.value},
                         {"unit", entry.unit},
                         {"relative_error", entry.constant.relative_error},
                         {"evidence", to_text(entry.constant.evidence)},
                         {"source", entry.constant.source}});
  }
  return {{"name", report.calibration},
          {"hardware", report.calibration_hardware},
          {"software", report.calibration_software},
          {"constants", std::move(constants)},
          {"notes", report.calibration_notes}};
}

const char* word_of(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

Json json_form(const Report& report) {
  Json root;
  root["version"] = report_version;
  root["producer"] = report.producer;
  root["kind"] = report.kind;
  root["scenario"] = {{"name", report.scenario}, {"description", report.description}, {"file", report.file}};
  root["run"] = form_of(report.run);
  for (const FigureField& field : figure_fields()) put_figure(root, field.key, report.*(field.member));
  root["exposed_communication_fraction"] = exposed_communication(report);
  root["memory_limit_bytes"] = report.memory_limit_bytes;
  root["fits"] = report.fits;
  root["flop_convention"] = report.flop_convention;
  root["inputs"] = form_of(report.inputs);
  root["ramp_up"] = {{"sizes", report.ramp_up.sizes},
                     {"steps", report.ramp_up.steps},
                     {"time_s", report.ramp_up.time_s},
                     {"lost_s", report.ramp_up.lost_s}};
  root["training"] = form_of(report.training);
  root["jitter"] = {{"mean_s", report.jitter.mean_s},
                    {"median_s", report.jitter.median_s},
                    {"p95_s", report.jitter.p95_s},
                    {"slowdown", report.jitter.slowdown},
                    {"replicas", report.jitter.replicas}};
  root["breakdown"] = form_of(report.breakdown);
  for (const StepCostLine& line : step_cost_lines) root["costs"][line.key] = report.costs.*line.seconds;
  root["critical_path"] = form_of(report.critical_path);
  root["critical_path_busiest_rank"] = report.critical_path_busiest_rank;
  root["critical_path_spans"] = report.critical_path_spans;
  root["stages"] = Json::array();
  for (const ReportStage& stage : report.stages) root["stages"].push_back(form_of(stage));
  root["published"] = Json::array();
  for (const ReportPublished& row : report.published) root["published"].push_back(form_of(row));
  root["defaults"] = Json::array();
  for (const ChosenDefault& chosen : report.defaults) {
    root["defaults"].push_back({{"pointer", chosen.pointer}, {"value", chosen.value}, {"reason", chosen.reason}});
  }
  root["calibration"] = calibration_of(report);
  root["outside_measured_range"] = report.outside_measured_range;
  root["findings"] = Json::array();
  for (const Finding& finding : report.findings) {
    root["findings"].push_back({{"severity", word_of(finding.severity)},
                                {"code", finding.code},
                                {"pointer", finding.pointer},
                                {"message", finding.message},
                                {"nearest", finding.nearest}});
  }
  return root;
}

}  // namespace

std::string to_json(const Report& report) {
  return json_form(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stagecraft
