#include "gui/timeline/rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "trace/pair_ranks.hpp"

namespace stagecraft::gui {
namespace {

constexpr int node_height = 20, lane_height = 12, segment_height = 16, memory_height = 64, gap = 3;
constexpr std::size_t most_open_ranks = 8;

struct RankGroup {
  std::int32_t node = 0, rank = 0;
  std::vector<std::uint32_t> lanes;
};

/// Lanes of every rank, in the order of the lanes; ranks that only have memory curves come last.
std::vector<RankGroup> groups_of(const LoadedTrace& loaded) {
  std::vector<RankGroup> groups;
  for (std::uint32_t i = 0; i < loaded.lanes.size(); ++i) {
    const LaneRow& lane = loaded.lanes[i];
    if (groups.empty() || groups.back().rank != lane.rank) groups.push_back({lane.node, lane.rank, {}});
    groups.back().lanes.push_back(i);
  }
  return groups;
}

std::string lane_label(const LaneRow& lane) {
  std::string label = lane.segments ? "segments" : to_text(lane.lane);
  if (lane.segments && lane.lane != Lane::compute) label = fmt::format("{} segments", to_text(lane.lane));
  if (lane.sub_lane > 0) label += fmt::format(" {}", lane.sub_lane + 1);
  return label;
}

bool contains_words(const std::string& text, const std::string& filter) {
  std::size_t at = 0;
  while (at < filter.size()) {
    const std::size_t end = std::min(filter.find(' ', at), filter.size());
    if (end > at && text.find(filter.substr(at, end - at)) == std::string::npos) return false;
    at = end + 1;
  }
  return true;
}

class Builder {
 public:
  Builder(const std::vector<const LoadedTrace*>& traces, const RowOptions& options)
      : traces_(traces), options_(options), tag_(traces.size() > 1) {
    for (const LoadedTrace* trace : traces) groups_.push_back(groups_of(*trace));
  }

  std::vector<Row> build() {
    if (options_.interleave && traces_.size() > 1) {
      interleaved();
    } else {
      for (std::size_t source = 0; source < traces_.size(); ++source) all_of(source);
    }
    return std::move(rows_);
  }

 private:
  void all_of(std::size_t source) {
    std::int32_t nodes = 0, last_node = -1;
    for (const RankGroup& group : groups_[source]) nodes += group.node != last_node ? (last_node = group.node, 1) : 0;
    std::size_t i = 0;
    const std::vector<RankGroup>& groups = groups_[source];
    while (i < groups.size()) {
      std::size_t end = i;
      while (end < groups.size() && groups[end].node == groups[i].node) ++end;
      bool open = true;
      if (nodes > 1 || tag_) {
        open = node(source, {groups.begin() + static_cast<std::ptrdiff_t>(i),
                             groups.begin() + static_cast<std::ptrdiff_t>(end)});
      }
      for (; i < end; ++i) {
        if (open) rank(source, groups[i]);
      }
    }
  }

  void interleaved() {
    // Ranks of A in their order, each with its partners; what has none comes after the rank before it.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<std::size_t, const RankGroup*>>> by_rank;
    for (std::size_t source = 0; source < groups_.size(); ++source) {
      std::map<std::int32_t, std::int32_t> partner;
      if (source > 0) {
        for (const RankPair& pair : pair_ranks(traces_[0]->trace, traces_[source]->trace)) partner[pair.b] = pair.a;
      }
      std::pair<std::int64_t, std::int64_t> place{-1, 0};
      for (const RankGroup& group : groups_[source]) {
        const auto found = partner.find(group.rank);
        if (source > 0 && found == partner.end()) {
          ++place.second;
        } else {
          place = {source == 0 ? group.rank : found->second, 0};
        }
        by_rank[place].push_back({source, &group});
      }
    }
    for (const auto& [key, members] : by_rank) {
      for (const auto& [source, group] : members) rank(source, *group);
      y_ += gap;
    }
  }

  bool node(std::size_t source, const std::vector<RankGroup>& groups) {
    Row row;
    row.kind = RowKind::node;
    row.id = fmt::format("{}/node{}", source, groups.front().node);
    row.label = tag_ ? fmt::format("{} node {}", letter(source), groups.front().node)
                     : fmt::format("node {}", groups.front().node);
    for (const RankGroup& group : groups) {
      if (const std::uint32_t lane = main_lane(source, group); lane != no_span) row.lanes.push_back(lane);
    }
    row.foldable = true;
    row.folded = options_.folded.contains(row.id);
    const bool open = !row.folded;
    if (open && groups.size() == 1 && options_.filter.empty()) row.lanes.clear();  // the rank below shows the same
    add(source, std::move(row), node_height);
    return open;
  }

  std::uint32_t main_lane(std::size_t source, const RankGroup& group) const {
    for (const std::uint32_t lane : group.lanes) {
      const LaneRow& row = traces_[source]->lanes[lane];
      if (row.lane == Lane::compute && !row.segments) return lane;
    }
    return group.lanes.empty() ? no_span : group.lanes.front();
  }

  void rank(std::size_t source, const RankGroup& group) {
    Row row;
    row.kind = RowKind::rank;
    row.rank = group.rank;
    row.id = fmt::format("{}/node{}/rank{}", source, group.node, group.rank);
    row.label = fmt::format("rank {}", group.rank);
    if (tag_) row.label = fmt::format("{} {}", letter(source), row.label);
    row.depth = 1;
    const std::uint32_t main = main_lane(source, group);
    if (main != no_span) row.lanes.push_back(main);
    const MemoryCurve* memory = options_.memory ? memory_of(source, group.rank) : nullptr;
    row.foldable = group.lanes.size() > 1 || memory != nullptr;
    row.folded = options_.folded.contains(row.id);
    const bool open = !row.folded;
    const std::string id = row.id;
    add(source, std::move(row), options_.rank_height);
    if (!open) return;
    for (const std::uint32_t lane : group.lanes) {
      if (lane != main) this->lane(source, id, lane);
    }
    if (memory == nullptr) return;
    Row of_memory;
    of_memory.kind = RowKind::memory;
    of_memory.rank = group.rank;
    of_memory.id = id + "/memory";
    of_memory.label = "memory";
    of_memory.depth = 2;
    add(source, std::move(of_memory), memory_height);
    y_ += gap;
  }

  void lane(std::size_t source, const std::string& parent, std::uint32_t index) {
    const LaneRow& lane = traces_[source]->lanes[index];
    Row row;
    row.kind = RowKind::lane;
    row.rank = lane.rank;
    row.label = lane_label(lane);
    row.id = fmt::format("{}/{}", parent, row.label);
    row.depth = 2;
    row.lanes = {index};
    add(source, std::move(row), lane.segments ? segment_height : lane_height);
  }

  const MemoryCurve* memory_of(std::size_t source, std::int32_t rank) const {
    const std::vector<MemoryCurve>& curves = traces_[source]->memory;
    const auto found = std::lower_bound(curves.begin(), curves.end(), rank,
                                        [](const MemoryCurve& curve, std::int32_t r) { return curve.rank < r; });
    return found != curves.end() && found->rank == rank ? &*found : nullptr;
  }

  static char letter(std::size_t source) { return static_cast<char>('A' + source); }

  void add(std::size_t source, Row row, int height) {
    row.source = static_cast<std::uint8_t>(source);
    if (!options_.filter.empty()) {
      const std::string rank = row.rank >= 0 ? fmt::format("rank {} ", row.rank) : "";
      if (!contains_words(rank + row.id + " " + row.label, options_.filter)) return;
    }
    row.y = y_;
    row.height = height;
    y_ += height + (options_.rank_height >= 8 ? gap : 0);
    rows_.push_back(std::move(row));
  }

  const std::vector<const LoadedTrace*>& traces_;
  const RowOptions& options_;
  bool tag_;
  std::vector<std::vector<RankGroup>> groups_;
  std::vector<Row> rows_;
  int y_ = gap;
};

}  // namespace

std::set<std::string> folded_at_first(const std::vector<const LoadedTrace*>& traces) {
  std::set<std::string> folded;
  for (std::size_t source = 0; source < traces.size(); ++source) {
    const std::vector<RankGroup> groups = groups_of(*traces[source]);
    if (groups.size() * traces.size() <= most_open_ranks) continue;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      folded.insert(fmt::format("{}/node{}/rank{}", source, groups[i].node, groups[i].rank));
    }
  }
  return folded;
}

std::vector<Row> make_rows(const std::vector<const LoadedTrace*>& traces, const RowOptions& options) {
  return Builder(traces, options).build();
}

int total_height(const std::vector<Row>& rows) {
  return rows.empty() ? 0 : rows.back().y + rows.back().height + gap;
}

std::size_t row_at(const std::vector<Row>& rows, int y) {
  const auto after = std::upper_bound(rows.begin(), rows.end(), y, [](int at, const Row& row) { return at < row.y; });
  if (after == rows.begin()) return rows.size();
  const auto row = after - 1;
  return y < row->y + row->height ? static_cast<std::size_t>(row - rows.begin()) : rows.size();
}

}  // namespace stagecraft::gui
