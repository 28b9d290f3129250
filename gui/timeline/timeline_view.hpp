#pragma once
// What a timeline shows, as a plain struct: painting takes nothing else. Used by the widget and by pictures without a
// display alike.

#include <QFont>
#include <optional>
#include <vector>

#include "gui/timeline/palette.hpp"
#include "gui/timeline/rows.hpp"
#include "gui/timeline/time_axis.hpp"

namespace stagecraft::gui {

struct Source {
  const LoadedTrace* loaded = nullptr;
  double shift_s = 0;  // added to its times: how it is aligned with the first
};

/// A slice on screen.
struct SliceRef {
  std::uint8_t source = 0;
  std::uint32_t lane = 0, slice = 0;  // LoadedTrace::lanes[lane].slices[slice]
  friend bool operator==(const SliceRef&, const SliceRef&) = default;
};

/// A stretch of time over visible rows [first_row, last_row].
struct Area {
  double begin_s = 0, end_s = 0;
  std::size_t first_row = 0, last_row = 0;
};

struct TimelineView {
  std::vector<Source> sources;
  std::vector<Row> rows;
  TimeAxis axis;          // over the width right of the labels
  int scroll_y = 0;       // logical pixels
  int label_width = 132;  // left of the axis
  Palette palette = make_palette(false);
  QFont font;
  std::optional<SliceRef> selected, hovered;
  std::optional<Area> area;
  std::vector<bool> highlighted;      // [class]: the rest is dimmed; empty: nothing is
  std::vector<std::uint32_t> marked;  // spans of the first source that are framed: what a figure refers to
  std::optional<double> cursor_s;
  bool critical_path = false;  // mark it, dim by slack
  bool arrows = true;          // of the selected slice
  bool title = false;          // a heading: for pictures
  bool legend = true;          // at the bottom
  std::uint64_t version = 0;   // counts changes of anything but axis, scroll, selection, hover, area and cursor
  bool dimmed = false;         // stale
};

inline constexpr int ruler_height = 28;

}  // namespace stagecraft::gui
