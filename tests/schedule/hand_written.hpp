#pragma once
// Small programs written out by hand, and programs as text, so that a test shows the whole case.

#include <string>
#include <vector>

#include "schedule/family.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft::test {

/// One program per rank in PyTorch's words, separated by blanks: {"0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"}. Overlapped
/// pairs are written "0F1+3B0". Stages lie where they are mentioned; operations are on their usual lanes. `lowered` if
/// a send or receive is among them.
Schedule written(const std::vector<std::string>& programs, std::int32_t micro_batches);

/// The program of a rank as `written` reads it.
std::string text_of(const std::vector<Op>& program);

/// A member of the family; the request must be one that it accepts.
Schedule generated(const std::string& name, std::int32_t ranks, std::int32_t micro_batches, std::int32_t chunks = 1);

/// All (name, ranks, micro-batches, chunks) with ranks and micro-batches up to a limit that some entry accepts.
struct FamilyCase {
  const FamilyEntry* entry = nullptr;
  ScheduleRequest request;
  std::string text() const;
};
std::vector<FamilyCase> family_cases(const std::vector<PipelineShape>& shapes);

/// The same operations, whatever the order: for counting.
std::int64_t count(const Schedule& schedule, OpKind kind);

}  // namespace stagecraft::test
