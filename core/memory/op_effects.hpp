#pragma once
// What each kind of operation of each stage does to the bytes of its rank.

#include <vector>

#include "memory/footprint.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

/// The classes that change within a step.
struct StepBytes {
  double activations = 0, logits = 0, communication = 0;

  StepBytes& operator+=(const StepBytes& other) {
    activations += other.activations;
    logits += other.logits;
    communication += other.communication;
    return *this;
  }
  double sum() const { return activations + logits + communication; }
};

struct OpEffect {
  StepBytes at_start;  // when it begins, for good
  StepBytes during;    // while it runs only
  StepBytes at_end;    // when it has ended, for good
};

/// Effects by (replica, stage, kind). The rules, for stage s:
///   RECV_F takes room for a message; F turns it into the stage's saved input, keeps its activations, and leaves its
///   output to SEND_F (or to the next stage, if the same rank holds it); RECV_B, B and SEND_B likewise with gradients;
///   I leaves what W needs; W frees it. Operations of another kind change nothing.
struct OpEffects {
  std::vector<OpEffect> effects;
};

/// Precondition: the schedule has as many stages as `memories`.
OpEffects op_effects(const std::vector<StageMemory>& memories, const Schedule& schedule);

inline std::size_t effect_count(std::size_t replicas, std::size_t stages) {
  return replicas * stages * op_kind_count + 1;
}

/// Into `effects`. An optimizer step has no stage: the last entry changes nothing.
inline std::size_t effect_index(std::size_t replicas, std::size_t stages, const Op& op) {
  if (!op.stage.valid()) return effect_count(replicas, stages) - 1;
  return (op.replica * stages + op.stage.index()) * op_kind_count + static_cast<std::size_t>(op.kind);
}

}  // namespace stagecraft
