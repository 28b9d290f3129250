#pragma once
// The training run around the step: how much data, what a GPU costs, how often something fails.

#include <cstdint>
#include <vector>

namespace stagecraft {

/// Watts of one GPU, its share of the node included, while it computes for `busy` of the time.
struct PowerPoint {
  double busy = 0, watts = 0;
};

/// Failures that end the job; it starts again from its last checkpoint.
struct FailureSpec {
  double gpu_hours = 0;              // between two failures, of one GPU with its share of all else; 0: none
  double interruptions_per_day = 0;  // of the whole job (spot machines taken away)
  double restart_s = 0;              // from the failure to the first step
  double checkpoint_s = 0;           // that the job stands still for each checkpoint
  double interval_s = 0;             // between two checkpoints; 0: the best one
};

/// Failures per second of a job of `gpus` GPUs.
inline double failure_rate(const FailureSpec& failures, double gpus) {
  const double of_gpus = failures.gpu_hours > 0 ? gpus / (failures.gpu_hours * 3600) : 0;
  return of_gpus + failures.interruptions_per_day / 86400;
}

/// Times of the GPUs that vary from operation to operation (standard deviation over mean, lognormal).
struct JitterSpec {
  double spread = 0;
  std::int64_t seed = 0;
  std::int64_t samples = 32;  // steps that are drawn
};

struct TrainingSpec {
  double tokens = 0;              // samples for a model of plain layers; 0: not stated
  double price_per_gpu_hour = 0;  // in any currency; 0: not stated
  FailureSpec failures;
  double evaluation_s = 0;               // of one evaluation
  std::int64_t evaluation_steps = 0;     // training steps between two; 0: none
  std::vector<PowerPoint> power;         // ascending by busy; empty: not stated
  double power_usage_effectiveness = 1;  // of the building: all power over that of the machines
  JitterSpec jitter;
};

}  // namespace stagecraft
