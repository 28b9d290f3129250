#include "estimate/training_run.hpp"

#include <algorithm>
#include <cmath>

namespace stagecraft {
namespace {

constexpr double hour_s = 3600, day_s = 86400;
constexpr double most_failures = 50;  // from one checkpoint to the next

/// Golden-section search over the logarithm of the interval; the goodput has one maximum.
double best_interval_s(double rate_per_s, double checkpoint_s, double restart_s) {
  if (checkpoint_s <= 0) return 1;  // checkpoints cost nothing: as often as a clock ticks
  double low = std::log(1.0), high = std::log(100 / rate_per_s + 100 * checkpoint_s);
  const double golden = (std::sqrt(5.0) - 1) / 2;
  const auto at = [&](double log_s) { return goodput(rate_per_s, std::exp(log_s), checkpoint_s, restart_s); };
  for (int i = 0; i < 80; ++i) {
    const double left = high - golden * (high - low), right = low + golden * (high - low);
    (at(left) < at(right) ? low : high) = at(left) < at(right) ? left : right;
  }
  return std::exp((low + high) / 2);
}

void add_goodput(const FailureSpec& failures, double gpus, TrainingRun& run) {
  const double rate = failure_rate(failures, gpus);
  run.failures_per_day = rate * day_s;
  run.checkpoint_interval_s = failures.interval_s;
  if (rate > 0 && failures.interval_s <= 0) {
    run.checkpoint_interval_s = best_interval_s(rate, failures.checkpoint_s, failures.restart_s);
  }
  if (run.checkpoint_interval_s > 0) {
    run.goodput = goodput(rate, run.checkpoint_interval_s, failures.checkpoint_s, failures.restart_s);
  }
}

}  // namespace

double goodput(double rate_per_s, double interval_s, double checkpoint_s, double restart_s) {
  if (rate_per_s <= 0) return interval_s / (interval_s + checkpoint_s);
  // A run that loses nearly everything, however nearly, stays a number.
  const double failures = std::min(rate_per_s * (interval_s + checkpoint_s), most_failures);
  return interval_s / ((1 / rate_per_s + restart_s) * std::expm1(failures));
}

double watts_at(const std::vector<PowerPoint>& curve, double busy) {
  if (curve.empty()) return 0;
  if (busy <= curve.front().busy) return curve.front().watts;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const PowerPoint &a = curve[i - 1], &b = curve[i];
    if (busy <= b.busy) return a.watts + (b.watts - a.watts) * (busy - a.busy) / (b.busy - a.busy);
  }
  return curve.back().watts;
}

TrainingRun training_run(const TrainingSpec& spec, const StepFacts& step) {
  TrainingRun run;
  add_goodput(spec.failures, step.gpus, run);
  const double evaluation_s =
      spec.evaluation_steps > 0 ? spec.evaluation_s / static_cast<double>(spec.evaluation_steps) : 0;
  const double each_s = (step.step_s + evaluation_s) / run.goodput;  // of a step with its share of all else
  const double watts = watts_at(spec.power, step.busy) * spec.power_usage_effectiveness;
  if (step.tokens > 0) {
    run.cost_per_million_tokens = each_s / hour_s * step.gpus * spec.price_per_gpu_hour / step.tokens * 1e6;
    run.joules_per_token = each_s * step.gpus * watts / step.tokens;
  }
  if (spec.tokens <= 0 || step.tokens <= 0) return run;
  run.steps = std::ceil(spec.tokens / step.tokens);
  run.time_s = run.steps * each_s + step.ramp_lost_s / run.goodput;
  run.gpu_hours = run.time_s / hour_s * step.gpus;
  run.cost = run.gpu_hours * spec.price_per_gpu_hour;
  run.energy_kwh = run.gpu_hours * watts / 1000;
  return run;
}

}  // namespace stagecraft
