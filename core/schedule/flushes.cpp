#include "schedule/flushes.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "schedule/refusals.hpp"

namespace stagecraft {
namespace {

constexpr const char* pointer = "/schedule/flushes";

ScheduleRequest of_one_group(ScheduleRequest request) {
  request.shape.micro_batches /= request.flushes;
  request.flushes = 1;
  return request;
}

}  // namespace

Findings refuse_with_flushes(const FamilyEntry& entry, const ScheduleRequest& request) {
  const std::int32_t flushes = request.flushes, micro_batches = request.shape.micro_batches;
  if (flushes == 1) return entry.refuse(request);
  if (flushes < 1 || micro_batches % flushes != 0) {
    std::int32_t nearest = std::clamp(flushes, 1, std::max(1, micro_batches));
    while (micro_batches % nearest != 0) --nearest;
    return {schedule_finding(
        "schedule-flushes", pointer,
        std::to_string(micro_batches) + " micro-batches do not divide by " + std::to_string(flushes) + " flushes",
        std::to_string(nearest))};
  }
  const ScheduleRequest group = of_one_group(request);
  Findings findings = entry.refuse(group);
  if (findings.empty() && entry.generate(group).asynchronous) {
    findings.push_back(schedule_finding("schedule-flushes", pointer, std::string(entry.name) + " never drains", "1"));
  }
  return findings;
}

Schedule generate_with_flushes(const FamilyEntry& entry, const ScheduleRequest& request) {
  if (request.flushes == 1) return entry.generate(request);
  const ScheduleRequest of_group = of_one_group(request);
  Schedule schedule = entry.generate(of_group);
  for (std::vector<Op>& program : schedule.programs) {
    const std::size_t length = program.size();
    program.reserve(length * static_cast<std::size_t>(request.flushes));
    for (std::int32_t flush = 1; flush < request.flushes; ++flush) {
      for (std::size_t i = 0; i < length; ++i) {
        Op op = program[i];
        op.micro_batch = MicroBatch(op.micro_batch.value + flush * of_group.shape.micro_batches);
        program.push_back(op);
      }
    }
  }
  schedule.shape.micro_batches = request.shape.micro_batches;
  return schedule;
}

}  // namespace stagecraft
