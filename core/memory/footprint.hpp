#pragma once
// Bytes by class that each stage costs the rank that holds it: what stays all step long and what every micro-batch
// adds.

#include <vector>

#include "base/ids.hpp"
#include "memory/memory_class.hpp"
#include "memory/parameters.hpp"
#include "plan/plan.hpp"

namespace stagecraft {

struct StageMemory {
  double parameters = 0;     // on one rank of the tensor group, the copy of a tied embedding included
  double tied_copy = 0;      // of these, the copy that a last stage apart from the first one needs
  MemoryByClass resident{};  // model states, all step long

  // Per micro-batch.
  Bytes activation_per_micro_batch;  // kept from F to B (or to the end of I)
  Bytes held_by_weight_grad;         // still kept between I and W
  Bytes logits_per_micro_batch;      // kept from F to B
  Bytes logits_held_by_weight_grad;  // between I and W
  Bytes input;                       // activation that enters, as this rank holds it; its gradient has the same size
  Bytes output;                      // activation that leaves
  Bytes message;                     // what one rank of the tensor group sends of `output` (schedule/lower.hpp)

  // At the worst moment of an operation, relative to what is kept: negative where part of that does not exist yet, or
  // no longer, as the logits while the blocks of the last stage run.
  Bytes forward_working_set, logits_forward_working_set;
  Bytes backward_working_set, logits_backward_working_set;  // of B or I, what one layer makes again included
  Bytes recompute_working_set;                              // that part alone
  Bytes unshard;                                            // from UNSHARD to RESHARD

  // Outside the GPU, for each rank.
  Bytes host, nvme;                 // states, all step long
  Bytes offloaded_per_micro_batch;  // activations, from F to B
};

/// One entry per stage of the plan. Pure: the same plan gives the same bytes.
std::vector<StageMemory> stage_memories(const Plan& plan);

StageMemory stage_memory(const Plan& plan, Stage stage);

/// Model states of what a rank holds, under the run's recipe, optimizer, ZeRO stage and offload: on the GPU, and what
/// lies on the host or its drives.
struct ResidentStates {
  MemoryByClass gpu{};
  Bytes host, nvme;
};
ResidentStates resident_states(const Plan& plan, const ParameterCount& count);

}  // namespace stagecraft
