#pragma once
// Training on one device without schedule, messages or graph: the yardstick for every layout.

#include <map>
#include <string>
#include <vector>

#include "exec/run/rank_executor.hpp"

namespace stagecraft {

/// Whole tensors by global name, fp64, on the host.
using WholeTensors = std::map<std::string, at::Tensor>;

struct TrainingRecord {
  std::vector<double> losses;
  std::vector<double> norms;
  std::vector<WholeTensors> gradients;  // after each step, reduced
  WholeTensors values;                  // after the last step
};

/// Puts the pieces that a rank holds into whole tensors.
void add_pieces(const StageBuffers& buffers, bool gradients, WholeTensors& whole);
/// Adds what a rank owns of the reduced gradients under ZeRO; replicas and tied copies count once.
void add_owned_gradients(const StageBuffers& buffers, WholeTensors& whole);

/// Micro-batch gradients are added in this order in every step.
TrainingRecord train_on_one_device(const Plan& plan, const ExecuteOptions& options, std::int32_t steps,
                                   const std::vector<std::int32_t>& order);

/// Order in which the schedule adds the gradients of its stages: that of W, or of fused B. Throws if two stages differ.
std::vector<std::int32_t> accumulation_order(const Schedule& schedule);

/// All ranks in one process, as threads.
TrainingRecord train_in_process(const Plan& plan, const Schedule& schedule, const ExecuteOptions& options,
                                std::int32_t steps);

/// |a - b| / |b| over all tensors together; infinite if the names differ.
double relative_difference(const WholeTensors& a, const WholeTensors& b);
bool bit_equal(const WholeTensors& a, const WholeTensors& b);

}  // namespace stagecraft
