#include "trace/level_of_detail_rows.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "trace/critical_path.hpp"
#include "trace/idle_time.hpp"
#include "trace/sub_lanes.hpp"

namespace stagecraft {
namespace {

SliceClass slice_class_of_idle(TimeClass cause) {
  switch (cause) {
    case TimeClass::pipeline_communication:
      return SliceClass::awaits_pipeline;
    case TimeClass::data_communication:
      return SliceClass::awaits_data;
    case TimeClass::host_copies:
      return SliceClass::awaits_copies;
    case TimeClass::bubble_warmup:
      return SliceClass::bubble_warmup;
    case TimeClass::bubble_steady:
      return SliceClass::bubble_steady;
    case TimeClass::bubble_cooldown:
      return SliceClass::bubble_cooldown;
    default:
      return SliceClass::other;
  }
}

/// Idle time of a compute lane, in the order of time.
std::vector<IdlePiece> idle_of(const Trace& trace, const Predecessors& predecessors, SpanRange lane,
                               const std::vector<std::uint32_t>& last_of_step) {
  std::vector<IdlePiece> pieces, of_gap;
  const std::int32_t rank = trace.spans[lane.first].rank;
  Interval step{trace.begin_s, trace.begin_s};
  std::size_t from = lane.first;  // spans before it have ended before the step
  for (std::size_t s = 0; s < trace.step_end_s.size(); ++s) {
    step = {step.end_s, trace.step_end_s[s]};
    while (from < lane.last && trace.spans[from].end_s <= step.begin_s) ++from;
    std::size_t to = from;
    while (to < lane.last && trace.spans[to].begin_s < step.end_s) ++to;
    const Phases phases = phases_of(trace, {from, to}, step);
    const auto add = [&](Interval gap, std::uint32_t awaited, bool itself) {
      if (awaited == no_span) return;
      of_gap = idle_pieces(trace, predecessors, rank, gap, awaited, itself, phases);
      pieces.insert(pieces.end(), of_gap.begin(), of_gap.end());
    };
    double free_since = step.begin_s;
    for (std::size_t i = from; i < to; ++i) {
      const Span& span = trace.spans[i];
      if (span.segment >= 0 || span.end_s <= step.begin_s) continue;
      if (span.begin_s > free_since) add({free_since, span.begin_s}, static_cast<std::uint32_t>(i), false);
      free_since = std::max(free_since, span.end_s);
    }
    if (free_since < step.end_s) add({free_since, step.end_s}, last_of_step[s], true);
  }
  return pieces;
}

/// Appends slices in the order of time; what rounding lets overlap or vanish is cut or left out.
class RowBuilder {
 public:
  explicit RowBuilder(SliceRow& row) : row_(row) {}
  void add(double begin_s, double end_s, double tensor_s, const InnerCommunication& inner, SliceClass kind,
           std::uint32_t span) {
    const std::int64_t begin = std::max(nanoseconds(begin_s), end_), end = nanoseconds(end_s);
    if (end <= begin) return;
    row_.append({begin, end, nanoseconds(tensor_s), kind, span,
                 InnerTime{nanoseconds(inner.context_s), nanoseconds(inner.expert_s), nanoseconds(inner.data_s),
                           nanoseconds(inner.copies_s)}});
    end_ = end;
  }

 private:
  SliceRow& row_;
  std::int64_t end_ = std::numeric_limits<std::int64_t>::min();
};

void fill(LaneRow& row, const Trace& trace, const std::vector<std::uint32_t>& spans,
          const std::vector<IdlePiece>& idle) {
  RowBuilder builder(row.slices);
  row.slices.reserve(spans.size() + idle.size());
  std::size_t next_idle = 0;
  const auto add_idle_until = [&](double time_s) {
    for (; next_idle < idle.size() && idle[next_idle].time.begin_s < time_s; ++next_idle) {
      const IdlePiece& piece = idle[next_idle];
      builder.add(piece.time.begin_s, piece.time.end_s, 0, {}, slice_class_of_idle(piece.cause), no_span);
    }
  };
  for (const std::uint32_t index : spans) {
    const Span& span = trace.spans[index];
    const SliceClass kind = slice_class_of(span);
    add_idle_until(span.begin_s);
    builder.add(span.begin_s, span.end_s, kind == SliceClass::tensor ? 0 : span.tensor_s, inner_of(trace, span), kind,
                index);
  }
  add_idle_until(std::numeric_limits<double>::infinity());
}

}  // namespace

std::vector<std::uint32_t> last_to_end_of_steps(const Trace& trace) {
  const std::vector<double>& ends = trace.step_end_s;
  std::vector<std::uint32_t> last(ends.size(), no_span);
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    if (a == no_span || b == no_span) return b == no_span && a != no_span;
    const double left = trace.spans[a].end_s, right = trace.spans[b].end_s;
    return left != right ? left > right : a < b;
  };
  for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
    const Span& span = trace.spans[i];
    if (span.segment >= 0) continue;
    const auto step = static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), span.end_s) - ends.begin());
    if (step < last.size() && later(i, last[step])) last[step] = i;
  }
  for (std::size_t s = 1; s < last.size(); ++s) {
    if (later(last[s - 1], last[s])) last[s] = last[s - 1];
  }
  return last;
}

std::vector<LaneRow> lane_rows(const Trace& trace, const Predecessors& predecessors) {
  std::map<std::int32_t, std::int32_t> node_of;
  for (const TraceRank& rank : trace.ranks) node_of[rank.rank] = rank.node;
  const std::vector<std::uint16_t> sub_lane = sub_lanes(trace);
  const std::vector<std::uint32_t> last_of_step = last_to_end_of_steps(trace);
  std::vector<LaneRow> rows;
  std::vector<std::vector<std::uint32_t>> of_lane;  // spans by 2 * sub-lane + whether they are segments
  for (const SpanRange& lane : lanes_of(trace)) {
    if (lane.first == lane.last) continue;
    const Span& first = trace.spans[lane.first];
    for (auto& spans : of_lane) spans.clear();
    for (std::size_t i = lane.first; i < lane.last; ++i) {
      const std::size_t slot = 2 * std::size_t{sub_lane[i]} + (trace.spans[i].segment >= 0 ? 1 : 0);
      if (of_lane.size() <= slot) of_lane.resize(slot + 1);
      of_lane[slot].push_back(static_cast<std::uint32_t>(i));
    }
    for (std::size_t slot = 0; slot < of_lane.size(); ++slot) {
      if (of_lane[slot].empty()) continue;
      LaneRow row{first.rank, node_of[first.rank], first.lane, static_cast<std::uint16_t>(slot / 2), slot % 2 == 1, {}};
      const bool shows_idle = first.lane == Lane::compute && slot == 0;
      fill(row, trace, of_lane[slot],
           shows_idle ? idle_of(trace, predecessors, lane, last_of_step) : std::vector<IdlePiece>{});
      if (row.slices.size() > 0) rows.push_back(std::move(row));
    }
  }
  const auto key = [](const LaneRow& row) {
    return std::tuple(row.node, row.rank, row.lane, row.segments, row.sub_lane);
  };
  std::sort(rows.begin(), rows.end(), [&](const LaneRow& a, const LaneRow& b) { return key(a) < key(b); });
  return rows;
}

}  // namespace stagecraft
