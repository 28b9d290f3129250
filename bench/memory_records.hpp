#pragma once
// Published memory readings, and the one rule that turns each of them into a scenario. docs/memory-model.md states it.

#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft::bench {

struct MemoryReading {
  std::string kind;  // "allocated", "reserved" (torch), "device" (nvidia-smi)
  std::string rank;  // "first", "middle", "last", "max", "min"
  double bytes = 0;
};

struct MemoryRecord {
  std::string id, group;
  std::string verdict;  // "fits", "oom", or empty
  std::vector<MemoryReading> readings;
  Scenario scenario;
  std::vector<double> profile_ms;  // T_F, T_B, T_W, T_comm of an automatic schedule
  double more_workspace = 0;       // bytes that the run's environment adds to the usual workspaces
  double memory_limit = 0;         // of an automatic schedule, in activations of one stage
};

/// All records of scenarios/records/published.json. Throws std::runtime_error if the file is not as expected.
std::vector<MemoryRecord> memory_records(const std::string& path);

/// The lowered schedule of a record.
Schedule schedule_of(const MemoryRecord& record, const Plan& plan);

}  // namespace stagecraft::bench
