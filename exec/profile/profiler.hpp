#pragma once
// Times every kind of operation of a scenario, repetition by repetition, so that repetitions can stand between steps.

#include "exec/profile/time_transfers.hpp"

namespace stagecraft {

/// Made, used and asked for its result by all ranks of the transport alike.
class Profiler {
 public:
  Profiler(const Job& job, const ExecuteOptions& options, Transport& transport);
  void repeat();  // the first two warm up
  /// The means over the ranks, on all of them.
  Profile result() const;

 private:
  Timing timing_;
  LayerTimer layers_;
  OptimizerTimer optimizer_;
  TransferTimer transfers_;
  std::int32_t runs_ = 0;
};

}  // namespace stagecraft
