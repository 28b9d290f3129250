#include "schedule/stage_placement.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stagecraft {

namespace {

/// The ranks on which a stage appears, ascending; two at most matter.
struct Seen {
  std::int32_t ranks[2] = {-1, -1};
  std::int32_t count = 0;
};

/// The largest table that a file of `operations` operations may span: with fewer than a quarter of its passes it is not
/// a schedule but a misprint, and every table over it would take more memory than the file.
double largest_table(std::size_t operations) {
  return 4.0 * static_cast<double>(operations) + 4096;
}

std::string collect(const Schedule& schedule, std::vector<Seen>& seen, std::int32_t& micro_batches) {
  std::int32_t last_stage = -1;
  std::size_t operations = 0;
  for (const auto& program : schedule.programs) {
    operations += program.size();
    for (const Op& op : program) {
      last_stage = std::max(last_stage, op.stage.value);
      micro_batches = std::max(micro_batches, op.micro_batch.value + 1);
    }
  }
  if (last_stage < 0) return "no operation names a stage";
  const double passes = (static_cast<double>(last_stage) + 1) * std::max(micro_batches, 1);
  if (passes > largest_table(operations)) {
    return fmt::format(
        "stages up to {} and micro-batches up to {} make {:.0f} passes, but there are only {} operations", last_stage,
        micro_batches - 1, passes, operations);
  }
  seen.resize(static_cast<std::size_t>(last_stage) + 1);
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const auto rank = static_cast<std::int32_t>(r);
    for (const Op& op : schedule.programs[r]) {
      if (!op.stage.valid()) continue;
      Seen& of = seen[op.stage.index()];
      if (of.count > 0 && of.ranks[std::min(of.count, 2) - 1] == rank) continue;
      if (of.count < 2) of.ranks[of.count] = rank;
      ++of.count;
    }
  }
  return "";
}

std::string place_bidirectional(Schedule& schedule, const std::vector<Seen>& seen) {
  const auto ranks = static_cast<std::int32_t>(schedule.programs.size());
  StageMap down, up;
  for (std::size_t s = 0; s < seen.size(); ++s) {
    const auto stage = static_cast<std::int32_t>(s);
    const std::int32_t mirrored = ranks - 1 - stage;
    const bool fits = seen[s].count == 2 && seen[s].ranks[0] == std::min(stage, mirrored) &&
                      seen[s].ranks[1] == std::max(stage, mirrored);
    if (!fits) {
      return fmt::format(
          "stage {} does not stand on one rank, nor every stage s on the ranks s and {}-s as in a bidirectional "
          "schedule",
          stage, ranks - 1);
    }
    down.push_back(PipelineRank(stage));
    up.push_back(PipelineRank(mirrored));
  }
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    for (Op& op : schedule.programs[r]) op.replica = op.stage.valid() && op.stage.index() != r ? 1 : 0;
  }
  schedule.placement = {down, up};
  return "";
}

}  // namespace

std::string infer_placement(Schedule& schedule) {
  std::vector<Seen> seen;
  std::int32_t micro_batches = 0;
  std::string problem = collect(schedule, seen, micro_batches);
  if (!problem.empty()) return problem;
  if (micro_batches == 0) return "no operation names a micro-batch";
  const auto ranks = static_cast<std::int32_t>(schedule.programs.size());
  const auto stages = static_cast<std::int32_t>(seen.size());
  const auto missing = std::find_if(seen.begin(), seen.end(), [](const Seen& of) { return of.count == 0; });
  if (missing != seen.end()) return fmt::format("stage {} is missing", missing - seen.begin());
  if (stages % ranks != 0) {
    return fmt::format("{} stages do not spread evenly over {} ranks", stages, ranks);
  }
  schedule.shape = {ranks, micro_batches, stages / ranks};
  if (std::any_of(seen.begin(), seen.end(), [](const Seen& of) { return of.count > 1; })) {
    return place_bidirectional(schedule, seen);
  }
  StageMap map;
  std::vector<std::int32_t> held(static_cast<std::size_t>(ranks), 0);
  for (const Seen& of : seen) {
    map.push_back(PipelineRank(of.ranks[0]));
    ++held[map.back().index()];
  }
  for (std::size_t r = 0; r < held.size(); ++r) {
    if (held[r] != schedule.shape.chunks) {
      return fmt::format("rank {} holds {} stages, others {}: every rank holds the same number", r, held[r],
                         stages / ranks);
    }
  }
  schedule.placement = {map};
  return "";
}

}  // namespace stagecraft
