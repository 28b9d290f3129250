#include "sweep_point.hpp"

#include <algorithm>

#include "base/input_error.hpp"
#include "base/refusal.hpp"

namespace stagecraft::cli {
namespace {

std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ';');
  return text;
}

std::string reasons_of(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::error) text += (text.empty() ? "" : "; ") + to_text(finding);
  }
  return in_one_line(std::move(text));
}

}  // namespace

PointFigures figures_of(const Report& report) {
  PointFigures figures;
  figures.gpus = static_cast<double>(report.run.gpus);
  figures.step_time_s = report.step_time_s.value;
  figures.tokens_per_s = report.tokens_per_s.value;
  figures.tokens_per_s_per_gpu = report.tokens_per_s_per_gpu.value;
  figures.tflops_per_gpu = report.tflops_per_gpu.value;
  figures.mfu = report.mfu.value;
  figures.hfu = report.hfu.value;
  figures.bubble_fraction = report.bubble_fraction.value;
  figures.peak_memory_bytes = report.peak_memory_bytes.value;
  figures.memory_limit_bytes = report.memory_limit_bytes;
  figures.goodput = report.training.goodput;
  figures.training_time_s = report.training.time_s;
  figures.cost_per_million_tokens = report.training.cost_per_million_tokens;
  figures.joules_per_token = report.training.joules_per_token;
  return figures;
}

Point rehearse_point(std::int64_t number, std::vector<std::string> values, const RehearsalOptions& options,
                     const Console& console) {
  Point point;
  point.number = number;
  point.values = std::move(values);
  try {
    const Rehearsal rehearsal = rehearse(options, console);
    point.figures = figures_of(rehearsal.report);
    point.status = rehearsal.report.fits ? PointStatus::ok : PointStatus::does_not_fit;
    if (!rehearsal.report.fits) point.reason = "does not fit in memory";
  } catch (const Refusal& refusal) {
    point.status = PointStatus::infeasible;
    point.reason = reasons_of(refusal.findings());
  } catch (const InputError& error) {
    point.status = PointStatus::infeasible;
    point.reason = in_one_line(error.what());
  } catch (const std::exception& error) {
    point.status = PointStatus::failed;
    point.reason = in_one_line(error.what());
  }
  return point;
}

}  // namespace stagecraft::cli
