#include "exec/run/groups.hpp"

#include <numeric>

namespace stagecraft {

namespace {

std::vector<std::int32_t> values(const std::vector<Rank>& ranks) {
  std::vector<std::int32_t> result;
  for (const Rank rank : ranks) result.push_back(rank.value);
  return result;
}

/// Makes every communicator of an axis, in the order of their first members; returns the one this rank belongs to.
Group make_axis(const Plan& plan, Axis axis, Transport& transport) {
  Group mine;
  for (std::int32_t rank = 0; rank < transport.size(); ++rank) {
    const std::vector<std::int32_t> members = values(group_of(plan.degrees, axis, Rank(rank)));
    if (members.empty() || members.front() != rank) continue;
    const Group group = transport.make_group(members);
    if (group.index >= 0) mine = group;
  }
  return mine;
}

/// The ranks of first and last stage of every column; they need not be the first and last pipeline rank.
Group make_tied(const Plan& plan, const Schedule& schedule, Transport& transport) {
  Group mine;
  if (!plan.model.tied_embeddings || !plan.model.plain_layers.empty()) return mine;
  const PipelineRank first = schedule.placement[0].front(), last = schedule.placement[0].back();
  if (first == last) return mine;
  for (std::int32_t rank = 0; rank < transport.size(); ++rank) {
    Coordinates at = coordinates_of(plan.degrees, Rank(rank));
    if (at.pipeline != 0) continue;
    at.pipeline = std::min(first, last).value;
    const std::int32_t low = rank_at(plan.degrees, at).value;
    at.pipeline = std::max(first, last).value;
    const Group group = transport.make_group({low, rank_at(plan.degrees, at).value});
    if (group.index >= 0) mine = group;
  }
  return mine;
}

std::vector<ChannelEnds> channel_ends(const Plan& plan, const Schedule& schedule, std::int32_t size) {
  std::vector<ChannelEnds> ends;
  for (std::int32_t rank = 0; rank < size; ++rank) {
    Coordinates at = coordinates_of(plan.degrees, Rank(rank));
    if (at.pipeline != 0) continue;
    for (std::size_t i = 0; i < schedule.channels.size(); ++i) {
      at.pipeline = schedule.channels[i].from.value;
      const std::int32_t from = rank_at(plan.degrees, at).value;
      at.pipeline = schedule.channels[i].to.value;
      ends.push_back({from, rank_at(plan.degrees, at).value, static_cast<std::int32_t>(i)});
    }
  }
  return ends;
}

}  // namespace

RankGroups make_groups(const Plan& plan, const Schedule& schedule, Transport& transport) {
  if (world_size(plan.degrees) != transport.size()) {
    throw TransportError(TransportFailure::refused, "the plan has " + std::to_string(world_size(plan.degrees)) +
                                                        " ranks, the job has " + std::to_string(transport.size()));
  }
  RankGroups groups;
  groups.at = coordinates_of(plan.degrees, Rank(transport.rank()));
  std::vector<std::int32_t> everybody(static_cast<std::size_t>(transport.size()));
  std::iota(everybody.begin(), everybody.end(), 0);
  groups.world = transport.make_group(everybody);
  groups.tensor = make_axis(plan, Axis::tensor, transport);
  groups.data = make_axis(plan, Axis::data, transport);
  groups.embedding = make_tied(plan, schedule, transport);
  transport.connect(channel_ends(plan, schedule, transport.size()));
  return groups;
}

std::int32_t peer_rank(const Plan& plan, const RankGroups& groups, PipelineRank pipeline) {
  Coordinates at = groups.at;
  at.pipeline = pipeline.value;
  return rank_at(plan.degrees, at).value;
}

}  // namespace stagecraft
