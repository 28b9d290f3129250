#pragma once
// Requests for tests: any schedule of the family by name.

#include <string_view>

#include "schedule/family.hpp"

namespace stagecraft::test {

/// Shapes up to 8 ranks and 32 micro-batches, fewer micro-batches than ranks and odd numbers among them, with the chunk
/// counts that the schedule may take.
std::vector<ScheduleRequest> requests_of(const FamilyEntry& entry);

Schedule generate(std::string_view name, const PipelineShape& shape);

bool accepts(const FamilyEntry& entry, const ScheduleRequest& request);

}  // namespace stagecraft::test
