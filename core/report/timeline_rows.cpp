#include "report/timeline_rows.hpp"

#include <array>

#include "trace/sub_lanes.hpp"

namespace stagecraft {
namespace {

constexpr std::array<Paint, paint_count> paints = {{
    {"forward", "F", "#3b78c3", "44;97"},
    {"backward", "B", "#ee8a2c", "43;30"},
    {"input gradient", "I", "#1fa39b", "46;30"},
    {"weight gradient", "W", "#5aa245", "42;30"},
    {"recompute", "R", "#9ab8e0", "104;30"},
    {"optimizer", "O", "#8a6fb5", "45;97"},
    {"message", "", "#c76b98", "45;97"},
    {"collective", "", "#b0584f", "41;97"},
    {"copy", "", "#7a7044", "43;97"},
}};

}  // namespace

PaintKind paint_of(OpKind kind) {
  switch (kind) {
    case OpKind::forward:
      return PaintKind::forward;
    case OpKind::backward:
      return PaintKind::backward;
    case OpKind::input_grad:
      return PaintKind::input_grad;
    case OpKind::weight_grad:
      return PaintKind::weight_grad;
    case OpKind::recompute:
      return PaintKind::recompute;
    case OpKind::optimizer_step:
      return PaintKind::optimizer;
    case OpKind::send_activation:
    case OpKind::recv_activation:
    case OpKind::send_gradient:
    case OpKind::recv_gradient:
      return PaintKind::message;
    case OpKind::offload:
    case OpKind::reload:
    case OpKind::offload_grad:
    case OpKind::reload_param:
      return PaintKind::copy;
    default:
      return PaintKind::collective;
  }
}

const Paint& paint(PaintKind kind) {
  return paints[static_cast<std::size_t>(kind)];
}

std::vector<TimelineRow> timeline_rows(const Trace& trace, bool communication) {
  std::vector<TimelineRow> rows;
  const std::vector<std::uint16_t> sub_lane = sub_lanes(trace);
  for (const SpanRange& lane : lanes_of(trace)) {
    const Span& first = trace.spans[lane.first];
    if (first.lane != Lane::compute && !communication) continue;
    std::vector<TimelineRow> of_lane;
    for (std::size_t i = lane.first; i < lane.last; ++i) {
      const Span& span = trace.spans[i];
      if (span.segment >= 0 || span.end_s <= span.begin_s) continue;
      while (of_lane.size() <= sub_lane[i]) {
        of_lane.push_back({first.rank, first.lane, static_cast<std::uint16_t>(of_lane.size()), {}});
      }
      of_lane[sub_lane[i]].spans.push_back(static_cast<std::uint32_t>(i));
    }
    for (TimelineRow& row : of_lane) {
      if (!row.spans.empty()) rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace stagecraft
