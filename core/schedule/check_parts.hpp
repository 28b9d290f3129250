#pragma once
// The parts of check_schedule, each adding its findings. Only check_structure may be given an arbitrary schedule.

#include <array>
#include <cstdint>
#include <string>

#include "schedule/check.hpp"

namespace stagecraft {

/// Collects findings and keeps a broken schedule from producing a million of them.
class FindingList {
 public:
  /// `position` of `rank` is the cell at fault; `rank` < 0 for the schedule as a whole.
  void add(const char* code, std::int64_t rank, std::int64_t position, std::string message, std::string nearest = {});
  Findings take();
  /// So many of one kind that looking for more is a waste of time; what is left out is not counted either.
  bool enough() const { return enough_; }
  bool any() const { return !findings_.empty(); }

 private:
  struct Count {
    std::string code;
    std::int64_t findings = 0;
  };
  Findings findings_;
  bool enough_ = false;
  std::vector<Count> counts_;  // in order of appearance; there are about 25 codes
};

/// Shape, ranges, every stage on its rank, messages between stages that exist. The other parts rely on it.
void check_structure(const Schedule& schedule, FindingList& out);
/// Exactly one F, and B xor (I and W), per stage and micro-batch, in this order; pairs whole.
void check_completeness(const Schedule& schedule, FindingList& out);
/// Receives and sends where and only where they are needed, in order, with equal bytes and one channel.
void check_messages(const Schedule& schedule, FindingList& out);
/// Reductions, optimizer steps, gathers; one order of collectives on both sides of a group across pipeline ranks.
void check_reductions(const Schedule& schedule, FindingList& out);
/// ZeRO-3: gathered before use.
void check_sharding(const Schedule& schedule, FindingList& out);
/// Copies between GPU and host: beside the pass that they belong to, gradients between the last one and the step.
void check_copies(const Schedule& schedule, FindingList& out);
/// No rank waits for itself, on the channels of the schedule, however large the messages.
void check_progress(const Schedule& schedule, FindingList& out);

}  // namespace stagecraft
