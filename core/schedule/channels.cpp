#include <algorithm>

#include "schedule/channel_table.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

bool less(const Channel& a, const Channel& b) {
  if (a.from != b.from) return a.from < b.from;
  if (a.to != b.to) return a.to < b.to;
  return !a.gradient && b.gradient;
}

bool equal(const Channel& a, const Channel& b) {
  return a.from == b.from && a.to == b.to && a.gradient == b.gradient;
}

}  // namespace

ChannelTable make_channel_table(const Schedule& schedule, bool by_kind) {
  ChannelTable table;
  const auto stages = static_cast<std::size_t>(stage_count(schedule));
  table.boundaries = stages > 0 ? stages - 1 : 0;
  std::vector<Channel> keys;  // as by_boundary
  keys.reserve(2 * table.boundaries * schedule.placement.size());
  for (const StageMap& map : schedule.placement) {
    for (std::size_t s = 0; s < table.boundaries; ++s) {
      keys.push_back({map[s], map[s + 1], false, -1});
      keys.push_back({map[s + 1], map[s], by_kind, -1});
    }
  }
  for (const Channel& key : keys) {
    if (key.from != key.to) table.channels.push_back(key);
  }
  std::sort(table.channels.begin(), table.channels.end(), less);
  table.channels.erase(std::unique(table.channels.begin(), table.channels.end(), equal), table.channels.end());
  table.by_boundary.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].from == keys[i].to) continue;
    const auto found = std::lower_bound(table.channels.begin(), table.channels.end(), keys[i], less);
    table.by_boundary[i] = ChannelId(static_cast<std::size_t>(found - table.channels.begin()));
  }
  return table;
}

Schedule assign_channels(Schedule schedule) {
  ChannelTable table = make_channel_table(schedule, true);
  for (auto& program : schedule.programs) {
    for (Op& op : program) {
      if (is_send(op.kind) || is_receive(op.kind)) op.channel = table.of(op);
    }
  }
  schedule.channels = std::move(table.channels);
  return schedule;
}

Schedule assign_channels_per_tag(Schedule schedule) {
  const ChannelTable table = make_channel_table(schedule, true);
  const auto micro_batches = static_cast<std::size_t>(schedule.shape.micro_batches);
  std::vector<ChannelId> by_tag(2 * table.boundaries * micro_batches);
  schedule.channels.clear();
  for (auto& program : schedule.programs) {
    for (Op& op : program) {
      if (!is_send(op.kind) && !is_receive(op.kind)) continue;
      const std::size_t tag =
          (boundary_of(op) * micro_batches + op.micro_batch.index()) * 2 + (carries_gradient(op.kind) ? 1 : 0);
      if (!by_tag[tag].valid()) {
        by_tag[tag] = ChannelId(schedule.channels.size());
        Channel channel = table.channels[table.of(op).index()];
        channel.tag = static_cast<std::int32_t>(tag);
        schedule.channels.push_back(channel);
      }
      op.channel = by_tag[tag];
    }
  }
  return schedule;
}

}  // namespace stagecraft
