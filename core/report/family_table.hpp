#pragma once
// Schedules in numbers.

#include <string>
#include <vector>

#include "base/findings.hpp"
#include "schedule/analyse.hpp"
#include "schedule/schedule.hpp"
#include "schedule/stage_times.hpp"

namespace stagecraft {

struct FamilyRow {
  std::string name;
  std::int32_t chunks = 1;
  bool asynchronous = false;
  Analysis analysis;
  Findings refused;  // not empty: the shape is refused and `analysis` is empty
};

/// Makespan, bubble in both definitions, largest peak of live activations, messages: one line per schedule.
std::string family_text(const std::vector<FamilyRow>& rows);
std::string family_csv(const std::vector<FamilyRow>& rows);
std::string family_json(const std::vector<FamilyRow>& rows);

/// The same for one schedule, and what an asynchronous one promises in its steady state, as lines under its timeline.
std::string schedule_figures(const Schedule& schedule, const Analysis& analysis, const StageTimes& times);

}  // namespace stagecraft
