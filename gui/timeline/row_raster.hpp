#pragma once
// One row of slices as pixels. Every column of pixels is divided in the proportions of the time that it covers, to a
// fraction of a pixel: classes are stacked from the bottom, idle time on top.

#include <qrgb.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/level_of_detail.hpp"

namespace stagecraft::gui {

/// Pixels of a row within an image. `bits` is the image's pixel (0, 0); the row's rows of pixels are [top, top +
/// height), of which only [clip_top, clip_bottom) are written, in columns [left, left + bounds.size() - 1).
struct RowTarget {
  QRgb* bits = nullptr;
  std::ptrdiff_t stride = 0;  // in pixels
  int left = 0, top = 0, height = 0, clip_top = 0, clip_bottom = 0;
};

struct RowColors {
  std::array<QRgb, slice_class_count> fill{}, hatch{};
  QRgb gap = 0;                          // where there is no slice
  int hatch_period = 6, hatch_line = 2;  // pixels
  int hatch_phase = 0;                   // moves with the slices when they are panned
};

/// Dims slices by how long they could be late; the critical path keeps its colours.
struct SlackDimming {
  const std::vector<float>* slack_s = nullptr;  // [span]; null: nothing is dimmed
  float full_s = 1;                             // slack at which a slice is at its faintest
};

QRgb blended(QRgb a, QRgb b, float part_of_b);

/// `bounds` are the times of the columns, one more than there are columns.
void raster_row(const RowTarget& target, const SliceRow& row, std::span<const std::int64_t> bounds,
                const RowColors& colors, const SlackDimming& dimming);

/// The mean of several rows.
void raster_mean(const RowTarget& target, const std::vector<const SliceRow*>& rows,
                 std::span<const std::int64_t> bounds, const RowColors& colors);

}  // namespace stagecraft::gui
