#include <fmt/core.h>

#include "report/number_text.hpp"
#include "report/text_sections.hpp"

namespace stagecraft {
namespace {

std::string row(const char* title, const std::string& value, const std::string& remark, const TextStyle& style) {
  return fmt::format("  {}{}{}\n", padded(title, 14), style.bold(padded(value, 26)), style.faint(remark));
}

std::string days(double seconds) {
  return seconds < 2 * 86400 ? duration(seconds) : fmt::format("{:.1f} days", seconds / 86400);
}

std::string budget_rows(const Report& report, const TextStyle& style) {
  const TrainingRun& run = report.training;
  if (run.steps <= 0) return "";
  return row("whole run", days(run.time_s),
             fmt::format("{} steps, {} GPU-hours", grouped(run.steps), grouped(run.gpu_hours)), style);
}

std::string price_row(const TrainingRun& run, const TextStyle& style) {
  if (run.cost_per_million_tokens <= 0) return "";
  const std::string each = fmt::format("{:.4g} per million tokens", run.cost_per_million_tokens);
  return run.cost > 0 ? row("price", grouped(run.cost), each, style) : row("price", each, "", style);
}

std::string energy_row(const TrainingRun& run, const TextStyle& style) {
  if (run.joules_per_token <= 0) return "";
  const std::string each = fmt::format("{:.4g} J per token", run.joules_per_token);
  return run.energy_kwh > 0 ? row("energy", fmt::format("{} kWh", grouped(run.energy_kwh)), each, style)
                            : row("energy", each, "", style);
}

}  // namespace

std::string training_section(const Report& report, const TextStyle& style) {
  const TrainingRun& run = report.training;
  std::string rows = budget_rows(report, style) + price_row(run, style) + energy_row(run, style);
  if (run.goodput < 1) {
    rows += row("goodput", percent(run.goodput),
                fmt::format("{:.3g} failures a day, checkpoints every {}", run.failures_per_day,
                            duration(run.checkpoint_interval_s)),
                style);
  }
  if (report.jitter.replicas > 0) {
    rows += row("jitter", fmt::format("{} on average", duration(report.jitter.mean_s)),
                fmt::format("{} over the even step; median {}, 95th percentile {}; {} replicas drawn",
                            signed_percent(report.jitter.slowdown - 1), duration(report.jitter.median_s),
                            duration(report.jitter.p95_s), report.jitter.replicas),
                style);
  }
  return rows.empty() ? rows : style.bold("Training run") + "\n" + rows;
}

}  // namespace stagecraft
