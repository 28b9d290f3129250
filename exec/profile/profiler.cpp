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
  transfers_.add_to(profile, layers_.exchanges());
  return profile;
}

}  // namespace stagecraft
