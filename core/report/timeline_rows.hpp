#pragma once
// What the pictures of a trace share: rows, colours, letters.

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace stagecraft {

/// How a span is painted: F blue, I teal, W green, B orange, as PyTorch's schedule visualizer does
/// (torch/distributed/pipelining/_schedule_visualizer.py).
struct Paint {
  const char* name;    // for the legend
  const char* letter;  // "F"; "" on rows that have no letters
  const char* fill;    // "#3b78c3"
  const char* ansi;    // SGR parameters of background and foreground
};
enum class PaintKind : std::uint8_t {
  forward,
  backward,
  input_grad,
  weight_grad,
  recompute,
  optimizer,
  message,
  collective,
  copy
};
inline constexpr std::size_t paint_count = 9;
PaintKind paint_of(OpKind kind);
const Paint& paint(PaintKind kind);

struct TimelineRow {
  std::int32_t rank = 0;
  Lane lane = Lane::compute;
  std::uint16_t sub_lane = 0;
  std::vector<std::uint32_t> spans;  // whole operations with a length, by begin
};

/// Compute rows, one per rank; with `communication` also the rows of other lanes that hold anything.
std::vector<TimelineRow> timeline_rows(const Trace& trace, bool communication);

}  // namespace stagecraft
