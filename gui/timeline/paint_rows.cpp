// The picture of the rows, and how it is reused from frame to frame.
#include <atomic>
#include <cmath>
#include <cstring>

#include "gui/timeline/memory_raster.hpp"
#include "gui/timeline/paint_cache.hpp"
#include "gui/timeline/row_raster.hpp"
#include "trace/level_of_detail_columns.hpp"

namespace stagecraft::gui {
namespace {

constexpr float highlight_dim = 0.82F;

/// A part of the image in device pixels.
struct Part {
  int left = 0, right = 0, top = 0, bottom = 0;
};

class Frame {
 public:
  Frame(const TimelineView& view, double dpr, QImage& image)
      : view_(view),
        dpr_(dpr),
        image_(image),
        bits_(reinterpret_cast<QRgb*>(image.bits())),
        stride_(image.bytesPerLine() / static_cast<std::ptrdiff_t>(sizeof(QRgb))) {
    colors_.fill = view.palette.fill;
    colors_.hatch = view.palette.hatch;
    for (std::size_t i = 0; i < slice_class_count && i < view.highlighted.size(); ++i) {
      if (view.highlighted[i]) continue;
      colors_.fill[i] = blended(colors_.fill[i], view.palette.row, highlight_dim);
      colors_.hatch[i] = blended(colors_.hatch[i], view.palette.row, highlight_dim);
    }
    colors_.hatch_period = std::max(4, static_cast<int>(std::lround(6 * dpr)));
    colors_.hatch_line = std::max(1, static_cast<int>(std::lround(1.5 * dpr)));
    const double column = view.axis.begin_s / view.axis.seconds_per_pixel() * dpr;
    const double phase = std::fmod(std::floor(column + 0.5), colors_.hatch_period);
    colors_.hatch_phase = static_cast<int>(phase) + colors_.hatch_period;
    colors_.gap = view.palette.row;
  }

  void paint(const Part& part, Worker* worker) {
    if (part.right <= part.left || part.bottom <= part.top) return;
    bounds_.clear();
    const double ns_per_column = view_.axis.seconds_per_pixel() / dpr_ * 1e9;
    for (const Source& source : view_.sources) {
      const double begin = (view_.axis.begin_s - source.shift_s) * 1e9 + part.left * ns_per_column;
      bounds_.push_back(column_bounds(begin, ns_per_column, part.right - part.left));
    }
    std::vector<std::size_t> rows;
    int reached = part.top;
    for (std::size_t i = 0; i < view_.rows.size(); ++i) {
      const int top = top_of(view_.rows[i]), bottom = bottom_of(view_.rows[i]);
      if (bottom <= part.top || top >= part.bottom) continue;
      rows.push_back(i);
      clear(part, reached, top);
      reached = std::max(reached, painted(view_.rows[i]) ? bottom : top);
    }
    clear(part, reached, part.bottom);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < rows.size(); i = next++) paint_row(view_.rows[rows[i]], part);
    };
    if (worker != nullptr && rows.size() > 1) worker->start(work);
    work();
    if (worker != nullptr) worker->wait();
  }

 private:
  int device(int y) const { return static_cast<int>(std::lround(y * dpr_)); }
  int top_of(const Row& row) const { return device(row.y - view_.scroll_y); }
  int bottom_of(const Row& row) const { return device(row.y + row.height - view_.scroll_y); }

  /// Whether all of a row is painted, so that nothing needs to be cleared.
  bool painted(const Row& row) const { return row.kind != RowKind::memory && !row.lanes.empty(); }

  void clear(const Part& part, int top, int bottom) {
    for (int y = std::max(top, part.top); y < std::min(bottom, part.bottom); ++y) {
      std::fill_n(bits_ + y * stride_ + part.left, part.right - part.left, view_.palette.background);
    }
  }

  void paint_row(const Row& row, const Part& part) const {
    const int top = top_of(row);
    const RowTarget target{bits_, stride_, part.left, top, std::max(1, bottom_of(row) - top), part.top, part.bottom};
    const Source& source = view_.sources[row.source];
    if (row.kind == RowKind::memory) return paint_memory(row, source, target, part);
    const std::vector<std::int64_t>& bounds = bounds_[row.source];
    if (row.lanes.size() == 1) {
      SlackDimming dimming;
      if (view_.critical_path) {
        const double length = source.loaded->trace.end_s - source.loaded->trace.begin_s;
        dimming = {&source.loaded->slack_s, static_cast<float>(std::max(length / 10, 1e-9))};
      }
      return raster_row(target, source.loaded->lanes[row.lanes.front()].slices, bounds, colors_, dimming);
    }
    std::vector<const SliceRow*> slices;
    for (const std::uint32_t lane : row.lanes) slices.push_back(&source.loaded->lanes[lane].slices);
    raster_mean(target, slices, bounds, colors_);
  }

  void paint_memory(const Row& row, const Source& source, const RowTarget& target, const Part& part) const {
    for (const MemoryCurve& curve : source.loaded->memory) {
      if (curve.rank != row.rank) continue;
      TimeAxis axis{view_.axis.time_at(part.left / dpr_), view_.axis.time_at(part.right / dpr_),
                    static_cast<double>(part.right - part.left)};
      raster_memory(target, curve, axis, source.shift_s, part.right - part.left, memory_scale(view_, row.rank),
                    view_.palette, view_.palette.row);
      return;
    }
  }

  const TimelineView& view_;
  double dpr_;
  QImage& image_;
  QRgb* bits_;
  std::ptrdiff_t stride_;
  RowColors colors_;
  std::vector<std::vector<std::int64_t>> bounds_;  // [source]
};

/// Moves the picture by (dx, dy) device pixels; what comes into view is left as it is.
void move_pixels(QImage& image, int dx, int dy) {
  const int width = image.width(), height = image.height();
  const std::size_t bytes = static_cast<std::size_t>(width - std::abs(dx)) * sizeof(QRgb);
  const auto move_line = [&](int from, int to) {
    const uchar* source = image.constScanLine(from) + (dx < 0 ? -dx : 0) * static_cast<int>(sizeof(QRgb));
    uchar* target = image.scanLine(to) + (dx > 0 ? dx : 0) * static_cast<int>(sizeof(QRgb));
    std::memmove(target, source, bytes);
  };
  if (dy <= 0) {
    for (int y = 0; y < height + dy; ++y) move_line(y - dy, y);
  } else {
    for (int y = height - 1; y >= dy; --y) move_line(y - dy, y);
  }
}

/// By how many device pixels the axis has moved, if by a whole number and less than the width.
std::optional<int> whole_pixels(const RowsKey& before, const RowsKey& now) {
  const double length_before = before.end_s - before.begin_s, length = now.end_s - now.begin_s;
  if (std::abs(length - length_before) > 1e-9 * length) return std::nullopt;
  const double pixels = (before.begin_s - now.begin_s) / length * now.size.width();
  if (std::abs(pixels) >= now.size.width() || std::abs(pixels - std::round(pixels)) > 1e-3) return std::nullopt;
  return static_cast<int>(std::lround(pixels));
}

}  // namespace

void update_rows(const TimelineView& view, QSize logical, double dpr, PaintCache& cache) {
  const QSize size(static_cast<int>(std::lround(logical.width() * dpr)),
                   static_cast<int>(std::lround(logical.height() * dpr)));
  const RowsKey key{view.version, view.axis.begin_s, view.axis.end_s, dpr, view.scroll_y, view.palette.dark, size};
  const RowsKey& old = cache.key;
  const bool same_rows =
      !cache.rows.isNull() && old.version == key.version && old.dpr == dpr && old.size == size && old.dark == key.dark;
  const std::optional<int> dx = same_rows ? whole_pixels(old, key) : std::nullopt;
  const double moved = (old.scroll_y - key.scroll_y) * dpr;
  const int dy = static_cast<int>(std::lround(moved));
  const bool movable = dx && std::abs(moved - dy) < 1e-9 && std::abs(dy) < size.height();
  if (!movable) {
    if (cache.rows.size() != size) cache.rows = QImage(size, QImage::Format_RGB32);
    Frame(view, dpr, cache.rows).paint({0, size.width(), 0, size.height()}, &cache.worker);
  } else if (*dx != 0 || dy != 0) {
    move_pixels(cache.rows, *dx, dy);
    Frame frame(view, dpr, cache.rows);
    const int top = std::max(dy, 0), bottom = size.height() + std::min(dy, 0);
    frame.paint({0, size.width(), 0, top}, &cache.worker);
    frame.paint({0, size.width(), bottom, size.height()}, &cache.worker);
    frame.paint({0, std::max(*dx, 0), top, bottom}, &cache.worker);
    frame.paint({size.width() + std::min(*dx, 0), size.width(), top, bottom}, &cache.worker);
  }
  cache.key = key;
}

}  // namespace stagecraft::gui
