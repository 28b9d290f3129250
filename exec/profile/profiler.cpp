#include "exec/profile/profiler.hpp"

#include <algorithm>
#include <numeric>

#include "exec/run/gather.hpp"

namespace stagecraft {

namespace {

constexpr std::int32_t warm_up = 2;

std::vector<std::int32_t> consecutive(std::int32_t first, std::int32_t count) {
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

/// Groups of `size` neighbouring ranks, made by all ranks in one order; returns the one that this rank belongs to.
Group neighbours(Transport& transport, std::int32_t size) {
  Group mine;
  for (std::int32_t first = 0; first + size <= transport.size(); first += size) {
    const Group group = transport.make_group(consecutive(first, size));
    if (group.index >= 0) mine = group;
  }
  return mine;
}

/// Every rank measured the same segments at the same time.
void average(Profile& profile, const Timing& timing) {
  std::vector<double> mine;
  for (const TimedSegment& segment : profile.segments)
    mine.insert(mine.end(), {segment.seconds, segment.relative_error});
  const std::vector<std::vector<double>> all =
      gather_numbers(mine, timing.world, timing.transport, timing.options.device);
  for (std::size_t i = 0; i < profile.segments.size(); ++i) {
    TimedSegment& segment = profile.segments[i];
    segment.seconds = segment.relative_error = 0;
    for (const std::vector<double>& theirs : all) {
      segment.seconds += theirs.at(2 * i) / static_cast<double>(all.size());
      segment.relative_error = std::max(segment.relative_error, theirs.at(2 * i + 1));
    }
  }
}

/// Ranks of a tensor group wait for each other inside every block, which their exchanges have in them: a group counts
/// as one rank, with the mean of its members.
double spread_between_groups(const Timing& timing, const std::vector<double>& repetition_s) {
  constexpr std::size_t window = 2;  // repetitions; as many operations as a short step has
  std::vector<double> mine;
  for (std::size_t i = 0; i + window <= repetition_s.size(); i += window)
    mine.push_back(std::accumulate(repetition_s.begin() + static_cast<std::ptrdiff_t>(i),
                                   repetition_s.begin() + static_cast<std::ptrdiff_t>(i + window), 0.0));
  const std::vector<std::vector<double>> all =
      gather_numbers(mine, timing.world, timing.transport, timing.options.device);
  const auto members = static_cast<std::size_t>(std::max(timing.tensor.size(), 1));
  std::vector<std::vector<double>> groups;
  for (std::size_t first = 0; first + members <= all.size(); first += members) {
    std::vector<double>& group = groups.emplace_back(all[first].size(), 0.0);
    for (std::size_t rank = first; rank < first + members; ++rank) {
      for (std::size_t w = 0; w < group.size(); ++w) group[w] += all[rank].at(w) / static_cast<double>(members);
    }
  }
  return spread_of(groups);
}

Timing make_timing(const Job& job, const ExecuteOptions& options, Transport& transport) {
  Group world = transport.make_group(consecutive(0, transport.size()));
  Group tensor = neighbours(transport, job.plan.degrees.tensor);
  Group self = neighbours(transport, 1);
  return {job, options, transport, std::move(world), std::move(tensor), std::move(self)};
}

}  // namespace

Profiler::Profiler(const Job& job, const ExecuteOptions& options, Transport& transport)
    : timing_(make_timing(job, options, transport)), layers_(timing_), optimizer_(timing_), transfers_(timing_) {}

void Profiler::repeat() {
  const bool counts = runs_++ >= warm_up;
  layers_.repeat(counts);
  optimizer_.repeat(counts);
  transfers_.repeat(counts);
}

Profile Profiler::result() const {
  Profile profile;
  layers_.add_to(profile);
  optimizer_.add_to(profile);
  average(profile, timing_);
  if (timing_.world.size() > 1) profile.rank_spread = spread_between_groups(timing_, layers_.seconds_of_repetitions());
  transfers_.add_to(profile, layers_.exchanges());
  return profile;
}

}  // namespace stagecraft
