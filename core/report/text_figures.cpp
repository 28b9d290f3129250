#include <fmt/core.h>

#include <algorithm>

#include "report/figures.hpp"
#include "report/number_text.hpp"
#include "report/text_sections.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t title_columns = 14, value_columns = 26;

std::string line(const std::string& title, const std::string& value, const std::string& remark,
                 const TextStyle& style) {
  return fmt::format("  {}{}{}\n", padded(title, title_columns), style.bold(padded(value, value_columns)),
                     style.faint(remark));
}

std::string interval(const std::string& low, const std::string& high, const Figure& figure) {
  return fmt::format("{} to {}, {}", low, high, to_text(figure.evidence));
}

std::string layout_of(const ReportRun& run) {
  std::string text = fmt::format("TP {} x PP {} x DP {}", run.tensor, run.pipeline, run.data);
  if (run.context > 1) text += fmt::format(" x CP {}", run.context);
  if (run.expert > 1) text += fmt::format(", experts over {}", run.expert);
  if (run.sequence_parallel) text += ", sequence parallel";
  if (run.virtual_stages > 1) text += fmt::format(", {} chunks per rank", run.virtual_stages);
  if (run.zero_stage > 0) text += fmt::format(", ZeRO {}", run.zero_stage);
  return text;
}

}  // namespace

std::string heading_section(const Report& report, const TextStyle& style) {
  const ReportRun& run = report.run;
  const std::string how = report.kind == "predicted" ? "simulated with contention" : "closed form, without contention";
  std::string out = style.bold(report.scenario) + "  " + style.faint(how + " · " + report.producer) + "\n";
  if (!report.description.empty()) out += style.faint(wrapped(report.description, text_columns, 0)) + "\n";
  out += fmt::format("  {} ({} parameters) on {} x {} of {}, {} {}\n", run.model, count_of_parameters(run.parameters),
                     run.gpus, run.gpu, run.cluster, run.nodes, run.nodes == 1 ? "node" : "nodes");
  const bool plain = report.inputs.data_unit == "samples";
  out += fmt::format("  {}; batch {} {}\n", layout_of(run), run.global_batch,
                     plain ? std::string("samples") : fmt::format("of {} tokens", run.sequence_length));
  out +=
      fmt::format("  {}, {} micro-batches of {}; {}", run.schedule, run.micro_batches, run.micro_batch, run.precision);
  if (!plain) {
    out += fmt::format(", {} recomputation, {} attention", run.recompute == "none" ? "no" : run.recompute,
                       run.attention_kernel);
  }
  out += "\n";
  return out;
}

std::string figures_section(const Report& report, const TextStyle& style) {
  const Figure &step = report.step_time_s, &tokens = report.tokens_per_s, &flops = report.tflops_per_gpu;
  std::string out;
  std::string remark = interval(duration(step.low), duration(step.high), step);
  const double closed_form_s = report.inputs.estimate_step_time_s;
  if (report.kind == "predicted" && closed_form_s > 0) {
    remark += fmt::format("; {} over the closed form", signed_percent(step.value / closed_form_s - 1));
  }
  out += line("step time", duration(step.value), remark, style);
  out += line("throughput", fmt::format("{} {}/s", grouped(tokens.value), report.inputs.data_unit),
              fmt::format("{} per GPU", grouped(report.tokens_per_s_per_gpu.value)), style);
  out += line("model FLOP/s", fmt::format("{:.1f} TFLOP/s per GPU", flops.value),
              fmt::format("{:.1f} to {:.1f}; counted as {}", flops.low, flops.high, report.flop_convention), style);
  out += line("MFU", percent(report.mfu.value),
              fmt::format("of {:.0f} TFLOP/s in {}; HFU {} counts recomputation",
                          report.inputs.peak_flops_per_gpu / 1e12, report.inputs.peak_dtype, percent(report.hfu.value)),
              style);
  const double working = computing_share(report.breakdown, report.costs);
  out += line("bubble", percent(report.bubble_fraction.value),
              fmt::format("idle, not communicating; GPUs compute {} of the time", percent(working)), style);
  const double share = report.peak_memory_bytes.value / report.memory_limit_bytes;
  const std::string memory =
      fmt::format("{} of {}", gibibytes(report.peak_memory_bytes.value), gibibytes(report.memory_limit_bytes));
  const std::string verdict = report.fits ? fmt::format("{} of the limit", percent(share)) : "DOES NOT FIT";
  out += fmt::format("  {}{}{}\n", padded("peak memory", title_columns), style.bold(padded(memory, value_columns)),
                     report.fits ? style.faint(verdict) : style.red(verdict));
  if (report.ramp_up.sizes > 0) {
    out += line(
        "batch ramp-up", fmt::format("{} in {:.0f} steps", duration(report.ramp_up.time_s), report.ramp_up.steps),
        fmt::format("{} sizes; {} more than in whole batches", report.ramp_up.sizes, duration(report.ramp_up.lost_s)),
        style);
  }
  return out;
}

std::string published_section(const Report& report, const TextStyle& style) {
  if (report.published.empty()) return "";
  std::string out = style.bold("Published") + "\n";
  out += style.faint(
      fmt::format("  {:<24}{:>12}{:>12}{:>10}   {}\n", "figure", "published", "predicted", "error", "source"));
  for (const ReportPublished& row : report.published) {
    const std::string convention = row.flop_convention.empty() ? "" : fmt::format(" [{}]", row.flop_convention);
    out += fmt::format("  {:<24}{:>12.4g}{:>12.4g}{:>10}   {}\n", row.key, row.published, row.predicted.value,
                       signed_percent(row.error), wrapped(row.source + convention, text_columns - 63, 63));
  }
  return out;
}

}  // namespace stagecraft
