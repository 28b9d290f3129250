#include "estimate/staleness.hpp"

#include <fmt/core.h>

#include <string>

#include "schedule/asynchronous.hpp"

namespace stagecraft {

void note_staleness(const Schedule& schedule, bool cold, Findings& findings) {
  if (!schedule.asynchronous) return;
  std::string stale, versions;
  for (std::int32_t rank = 0; rank < schedule.shape.ranks; ++rank) {
    stale +=
        fmt::format("{}{}", rank == 0 ? "" : ", ", staleness(schedule.weights, schedule.shape, PipelineRank(rank)));
    versions += fmt::format("{}{}", rank == 0 ? "" : ", ",
                            weight_versions(schedule.weights, schedule.shape, PipelineRank(rank)));
  }
  findings.push_back(
      {Severity::note, "stale-weights", "/schedule",
       fmt::format("asynchronous: rank by rank, gradients are applied {} updates after the weights they were "
                   "computed with, and {} versions of the weights are kept",
                   stale, versions),
       ""});
  if (!cold) return;
  findings.push_back(
      {Severity::warning, "no-steady-state", "/batch/global",
       fmt::format("{} micro-batches are too few to fill {} ranks: a cold start is reported, not the steady state",
                   schedule.shape.micro_batches, schedule.shape.ranks),
       fmt::format("{} micro-batches", 2 * schedule.shape.ranks + 1)});
}

}  // namespace stagecraft
