#pragma once
// Seconds of the layers of a scenario, each kind run alone, by all ranks at the same time: a core whose neighbours work
// too is slower than one that has the memory to itself.

#include <memory>

#include "exec/launch/job.hpp"
#include "exec/profile/measured_segment.hpp"
#include "exec/transport/transport.hpp"

namespace stagecraft {

/// What the ranks of a measurement share. `tensor` are those that share a layer, `self` is this rank alone.
struct Timing {
  const Job& job;
  const ExecuteOptions& options;
  Transport& transport;
  Group world, tensor, self;
};

class TimedStage;

/// Embedding, blocks, head with loss are run as stages of their own: forward, backward, and backward in two halves,
/// with the exchanges of the tensor group taken out. A stage's time is divided over the segments of its body in
/// proportion to a roofline of 5 FLOP per byte, so that their sum is what was measured. Where the schedule splits no
/// backward, the halves together take the time of the whole one.
class LayerTimer {
 public:
  explicit LayerTimer(const Timing& timing);
  ~LayerTimer();
  void repeat(bool counts);
  void add_to(Profile& profile) const;
  /// What this rank's layers took in each counted repetition, without exchanges.
  const std::vector<double>& seconds_of_repetitions() const { return repetition_s_; }
  /// Seconds that an exchange of the tensor group has held a block up, the wait for the slowest rank included.
  const std::vector<double>& exchanges() const;

 private:
  const Timing& timing_;
  Plan plan_;  // cut anew: one stage per kind of layer
  std::vector<std::unique_ptr<TimedStage>> stages_;
  std::vector<double> repetition_s_;
};

/// The optimizer: zeroing, norm, update by parameter; and what the ranks' exchange of the norm takes.
class OptimizerTimer {
 public:
  explicit OptimizerTimer(const Timing& timing);
  ~OptimizerTimer();
  void repeat(bool counts);
  void add_to(Profile& profile) const;

 private:
  const Timing& timing_;
  Plan plan_;
  std::size_t measured_stage_ = 0;
  std::unique_ptr<TimedStage> stage_;
  std::vector<double> update_s_, exchange_s_;
  std::int64_t updates_ = 0;
};

}  // namespace stagecraft
