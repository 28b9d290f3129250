#pragma once
// Why the peak of a rank is what it is: the operation, the micro-batches alive, the tensors, and where memory runs out.

#include <optional>
#include <string>
#include <vector>

#include "memory/timeline.hpp"

namespace stagecraft {

/// Tensors of one name on one rank at its peak.
struct PeakTensor {
  std::string name;
  MemoryClass memory_class = MemoryClass::activations;
  double count = 1;  // tensors: blocks times micro-batches
  Bytes bytes;       // all of them
};

/// Micro-batches of one stage that are between F and the end of their backward pass.
struct LiveMicroBatches {
  Stage stage;
  std::vector<std::int32_t> micro_batches;  // ascending
};

struct PeakExplanation {
  Op op;                                // runs at the peak
  std::vector<LiveMicroBatches> live;   // by stage
  std::vector<PeakTensor> tensors;      // largest first; what they leave of a class is its working set
  Bytes working_set;                    // of the operation at the peak, beyond the tensors listed
  std::optional<std::size_t> fails_at;  // position of the first operation that passes the limit
  std::string failing_allocation;       // what it asks for: "activations of 2F5 (1.21 GiB)"
};

/// Precondition: the schedule has as many stages as the plan, and the rank has at least one operation.
PeakExplanation explain_peak(const Plan& plan, const Schedule& schedule, PipelineRank rank);

}  // namespace stagecraft
