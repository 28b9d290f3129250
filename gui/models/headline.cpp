#include "gui/models/headline.hpp"

#include <algorithm>
#include <cmath>

#include "report/figures.hpp"
#include "report/number_text.hpp"

namespace stagecraft::gui {
namespace {

QString text(const std::string& from) {
  return QString::fromStdString(from);
}

QString interval(const std::string& low, const std::string& high) {
  return text(low) + QString::fromUtf8(" \u2013 ") + text(high);
}

enum class Good : std::uint8_t { low, high };

/// Differences too small to show say so; `points`: of percentages.
void compare(HeadlineFigure& figure, double now, double before, Good good, bool points) {
  const double change = points ? now - before : before > 0 ? now / before - 1 : 0;
  const bool visible = std::abs(change) >= 0.0005;
  if (!visible) {
    figure.change = QString::fromUtf8("\u00b1 0");
    return;
  }
  figure.change = points ? QString("%1%2 points")
                               .arg(change > 0 ? "+" : QString::fromUtf8("\u2212"))
                               .arg(std::abs(change) * 100, 0, 'f', 1)
                         : text(signed_percent(change)).replace("-", QString::fromUtf8("\u2212"));
  figure.trend = (change < 0) == (good == Good::low) ? Trend::better : Trend::worse;
}

const ReportStage* worst_stage(const Report& report) {
  const auto worst = std::max_element(
      report.stages.begin(), report.stages.end(),
      [](const ReportStage& a, const ReportStage& b) { return a.peak_memory_bytes.value < b.peak_memory_bytes.value; });
  return worst == report.stages.end() ? nullptr : &*worst;
}

}  // namespace

std::vector<HeadlineFigure> headline(const Report& report, const Report* baseline) {
  const Report& base = baseline == nullptr ? report : *baseline;
  std::vector<HeadlineFigure> figures;
  const auto add = [&](const char* title, const std::string& value, const QString& remark, const char* key, double now,
                       double before, Good good, bool points) {
    HeadlineFigure figure;
    figure.title = title;
    figure.value = text(value);
    figure.remark = remark;
    figure.key = key;
    if (baseline != nullptr) compare(figure, now, before, good, points);
    figures.push_back(std::move(figure));
  };
  const Figure &step = report.step_time_s, &memory = report.peak_memory_bytes;
  add("Step time", duration(step.value), interval(duration(step.low), duration(step.high)), "step_time_s", step.value,
      base.step_time_s.value, Good::low, false);
  add(report.inputs.data_unit == "samples" ? "Samples/s" : "Tokens/s", grouped(report.tokens_per_s.value),
      text(grouped(report.tokens_per_s_per_gpu.value)) + " per GPU", "tokens_per_s", report.tokens_per_s.value,
      base.tokens_per_s.value, Good::high, false);
  add("MFU", percent(report.mfu.value), QString("%1 TFLOP/s per GPU").arg(report.tflops_per_gpu.value, 0, 'f', 1),
      "mfu", report.mfu.value, base.mfu.value, Good::high, true);
  add("Bubble", percent(report.bubble_fraction.value), "of the step, idle", "bubble_fraction",
      report.bubble_fraction.value, base.bubble_fraction.value, Good::low, true);
  add("Exposed comm.", percent(exposed_communication(report)), "of the step, waited for",
      "exposed_communication_fraction", exposed_communication(report), exposed_communication(base), Good::low, true);
  const ReportStage* const worst = worst_stage(report);
  const QString of = text(gibibytes(report.memory_limit_bytes));
  add("Peak memory", gibibytes(memory.value),
      worst == nullptr ? "of " + of : QString("of %1, rank %2").arg(of).arg(worst->pipeline_rank), "peak_memory_bytes",
      memory.value, base.peak_memory_bytes.value, Good::low, false);
  figures.front().detail = QString("the interval is %1").arg(to_text(step.evidence));
  figures[3].detail = "idle time in which no message or collective is awaited, mean over the GPUs";
  figures[4].detail = "communication and copies that no computation hides, mean over the GPUs";
  figures.back().detail =
      worst == nullptr ? QString() : QString("pipeline rank %1 holds most").arg(worst->pipeline_rank);
  figures.back().alarm = !report.fits;
  if (report.memory_limit_bytes > 0) figures.back().share = memory.value / report.memory_limit_bytes;
  return figures;
}

}  // namespace stagecraft::gui
