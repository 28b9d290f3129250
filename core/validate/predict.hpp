#pragma once
// The prediction of one record.

#include "plan/plan.hpp"
#include "validate/validate.hpp"

namespace stagecraft {

inline constexpr std::int64_t most_passes_of_a_record = std::int64_t{1} << 18;
inline constexpr std::int64_t most_passes_of_a_file = std::int64_t{1} << 25;

/// Forward and backward passes that the scenario's schedule has on all ranks together.
std::int64_t passes_of(const Scenario& scenario);

/// Takes the passes that it plays from `passes_left`, and refuses where there are too few.
Outcome predict(const Record& record, const Library& library, std::int64_t& passes_left, const StepTimer& timer);

}  // namespace stagecraft
