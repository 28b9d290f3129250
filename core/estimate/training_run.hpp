#pragma once
// From the time of a step to the time, cost and energy of a training run.

#include <cstdint>

#include "spec/training_spec.hpp"

namespace stagecraft {

/// What the run is made of.
struct StepFacts {
  double step_s = 0;
  double tokens = 0;  // of a step
  double gpus = 1;
  double busy = 0;         // share of the time in which a GPU computes
  double ramp_lost_s = 0;  // by small batches at the start (estimate/ramp_up.hpp)
};

struct TrainingRun {
  double steps = 0;                  // whole steps for the budget of tokens; 0: no budget
  double goodput = 1;                // share of the time that steps which last take
  double checkpoint_interval_s = 0;  // stated or best; 0: no checkpoints
  double failures_per_day = 0;       // of the job
  double time_s = 0;                 // of all, evaluations, checkpoints, restarts and lost work included
  double gpu_hours = 0;
  double cost = 0;                     // in the currency of the price
  double cost_per_million_tokens = 0;  // also without a budget
  double energy_kwh = 0;               // of the building
  double joules_per_token = 0;         // also without a budget
};

/// Goodput after Daly (Future Generation Computer Systems 22, 2006): failures come at random at a rate r; a stretch of
/// T seconds of work with its checkpoint of C takes (1/r + R) (exp(r (T + C)) - 1) on average, R the time of a restart.
/// The best T is found where that divided by T is least; without failures there are no checkpoints unless an interval
/// is stated. Energy: the power curve at `busy`, straight between its points.
TrainingRun training_run(const TrainingSpec& spec, const StepFacts& step);

/// T / ((1/r + R) (exp(r (T + C)) - 1)); T / (T + C) for r = 0.
double goodput(double rate_per_s, double interval_s, double checkpoint_s, double restart_s);

double watts_at(const std::vector<PowerPoint>& curve, double busy);

}  // namespace stagecraft
