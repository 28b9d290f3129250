#include "gui/timeline/memory_raster.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gui/models/trace_counters.hpp"
#include "memory/memory_class.hpp"

namespace stagecraft::gui {
namespace {

std::string spoken(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace

std::size_t memory_color(const std::string& memory_class) {
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    if (memory_class == to_text(static_cast<MemoryClass>(i))) return i;
  }
  return memory_class_count;
}

void raster_memory(const RowTarget& target, const MemoryCurve& curve, const TimeAxis& axis, double shift_s, int columns,
                   const MemoryScale& scale, const Palette& palette, QRgb background) {
  const int clip_top = std::max(target.clip_top, target.top);
  const int clip_bottom = std::min(target.clip_bottom, target.top + target.height);
  std::vector<QRgb> colors;
  for (const std::string& name : curve.classes) colors.push_back(palette.memory[memory_color(name)]);
  const double per_pixel = scale.top_bytes / target.height;
  std::size_t next = 0;
  std::vector<int> edges(colors.size() + 1);
  for (int x = 0; x < columns; ++x) {
    const double begin = axis.time_at(x) - shift_s, end = axis.time_at(x + 1) - shift_s;
    if (x == 0) {
      next = point_at(curve.time_s, begin);
      next = next == curve.time_s.size() ? 0 : next;
    }
    while (next + 1 < curve.time_s.size() && curve.time_s[next + 1] <= begin) ++next;
    const bool any = !curve.time_s.empty() && curve.time_s[next] < end && begin <= curve.end_s;
    std::size_t shown = next;
    for (std::size_t i = next + 1; any && i < curve.time_s.size() && curve.time_s[i] < end; ++i) {
      if (curve.total[i] > curve.total[shown]) shown = i;
    }
    double sum = 0;
    edges[0] = target.top + target.height;
    for (std::size_t c = 0; c < colors.size(); ++c) {
      sum += any ? std::max(curve.bytes[c][shown], 0.0) : 0;
      edges[c + 1] = target.top + target.height - static_cast<int>(std::min(sum / per_pixel, 1e6) + 0.5);
    }
    std::size_t c = 0;
    for (int y = clip_bottom - 1; y >= clip_top; --y) {
      while (c < colors.size() && y < edges[c + 1]) ++c;
      target.bits[static_cast<std::ptrdiff_t>(y) * target.stride + target.left + x] =
          c < colors.size() ? colors[c] : background;
    }
  }
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 6> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string peak_text(const MemoryCurve& curve) {
  if (curve.total.empty()) return "";
  std::vector<std::size_t> order(curve.classes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return curve.bytes[a][curve.peak] > curve.bytes[b][curve.peak];
  });
  std::string text =
      fmt::format("{} at {}", bytes_text(curve.total[curve.peak]), duration_text(curve.time_s[curve.peak]));
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 3); ++i) {
    const double bytes = curve.bytes[order[i]][curve.peak];
    if (bytes <= 0) break;
    text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", spoken(curve.classes[order[i]]), bytes_text(bytes));
  }
  return text;
}

}  // namespace stagecraft::gui
