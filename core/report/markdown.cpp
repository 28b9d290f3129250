#include <fmt/core.h>

#include "report/figures.hpp"
#include "report/formats.hpp"
#include "report/number_text.hpp"

namespace stagecraft {
namespace {

std::string shown(double value, FigureUnit unit) {
  switch (unit) {
    case FigureUnit::seconds:
      return duration(value);
    case FigureUnit::per_second:
      return grouped(value);
    case FigureUnit::tflops:
      return fmt::format("{:.1f}", value);
    case FigureUnit::fraction:
      return percent(value);
    case FigureUnit::bytes:
      return gibibytes(value);
  }
  return "";
}

/// A bar would end the cell.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
  return out;
}

std::string figures_table(const Report& report) {
  std::string out = "| figure | predicted | low | high | evidence |\n|---|---:|---:|---:|---|\n";
  for (const FigureField& field : figure_fields()) {
    const Figure& figure = report.*(field.member);
    out += fmt::format("| {} | {} | {} | {} | {} |\n", field.title, shown(figure.value, field.unit),
                       shown(figure.low, field.unit), shown(figure.high, field.unit), to_text(figure.evidence));
  }
  return out;
}

std::string published_table(const Report& report) {
  if (report.published.empty()) return "";
  std::string out = "\n| published figure | published | predicted | error | source |\n|---|---:|---:|---:|---|\n";
  for (const ReportPublished& row : report.published) {
    const std::string convention = row.flop_convention.empty() ? "" : fmt::format(" ({})", row.flop_convention);
    out += fmt::format("| {}{} | {:.4g} | {:.4g} | {} | {} |\n", row.key, convention, row.published,
                       row.predicted.value, signed_percent(row.error), cell(row.source));
  }
  return out;
}

std::string breakdown_table(const Report& report) {
  const double path = total(report.critical_path), mean = total(report.breakdown);
  std::string out = "\n| where the step goes | critical path | | mean over GPUs | |\n|---|---:|---:|---:|---:|\n";
  for (std::size_t i = 0; i < time_class_count; ++i) {
    out += fmt::format("| {} | {} | {} | {} | {} |\n", to_text(static_cast<TimeClass>(i)),
                       percent(path > 0 ? report.critical_path[i] / path : 0), duration(report.critical_path[i]),
                       percent(mean > 0 ? report.breakdown[i] / mean : 0), duration(report.breakdown[i]));
  }
  for (const StepCostLine& line : step_cost_lines) {
    const double seconds = report.costs.*line.seconds;
    out += fmt::format("| of which {} | | | {} | {} |\n", line.text, percent(mean > 0 ? seconds / mean : 0),
                       duration(seconds));
  }
  return out;
}

std::string memory_table(const Report& report) {
  std::string out =
      "\n| pipeline rank | layers | peak memory | of limit | most | fits |\n|---:|---|---:|---:|---|---|\n";
  for (const ReportStage& stage : report.stages) {
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", stage.pipeline_rank, cell(stage.layers),
                       gibibytes(stage.peak_memory_bytes.value),
                       percent(stage.peak_memory_bytes.value / report.memory_limit_bytes), to_text(stage.dominating),
                       stage.fits ? "yes" : "**no**");
  }
  return out;
}

}  // namespace

std::string to_markdown(const Report& report) {
  const ReportRun& run = report.run;
  std::string out =
      fmt::format("## {}\n\n{} on {} x {} ({}), TP {} x PP {} x DP {}, {}, {} micro-batches; {} by {}.\n\n",
                  cell(report.scenario), cell(run.model), run.gpus, cell(run.gpu), cell(run.cluster), run.tensor,
                  run.pipeline, run.data, cell(run.schedule), run.micro_batches, report.kind, report.producer);
  out += figures_table(report) + published_table(report) + breakdown_table(report) + memory_table(report);
  out += fmt::format("\nTFLOP/s and MFU by {}: {}. Calibration: {}.\n", report.flop_convention,
                     report.flop_convention_formula, cell(report.calibration));
  if (!report.outside_measured_range.empty()) {
    out += "\nOutside the calibration's measured range:\n";
    for (const std::string& line : report.outside_measured_range) out += fmt::format("- {}\n", line);
  }
  if (!report.defaults.empty()) {
    out += "\n| chosen default | value | reason |\n|---|---|---|\n";
    for (const ChosenDefault& chosen : report.defaults) {
      out += fmt::format("| `{}` | {} | {} |\n", chosen.pointer, cell(chosen.value), cell(chosen.reason));
    }
  }
  for (const Finding& finding : report.findings) out += fmt::format("\n{}\n", to_text(finding));
  return out;
}

}  // namespace stagecraft
