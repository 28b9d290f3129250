#include "gui/timeline/legend.hpp"

#include <algorithm>
#include <set>

#include "gui/timeline/memory_raster.hpp"
#include "gui/timeline/view_geometry.hpp"

namespace stagecraft::gui {
namespace {

constexpr double period = 5;  // of a hatch, in pixels
constexpr double swatch = 11, spacing = 18, margin = 12, least_line = 20;

double line_height(const QFontMetricsF& metrics) {
  return std::max(least_line, std::ceil(metrics.height()) + 3);
}

double entry_width(const QFontMetricsF& metrics, const LegendEntry& entry) {
  return swatch + 6 + metrics.horizontalAdvance(entry.text) + spacing;
}

}  // namespace

std::vector<LegendEntry> legend_of(const TimelineView& view) {
  std::array<bool, slice_class_count> used{};
  for (const Source& source : view.sources) {
    for (const LaneRow& lane : source.loaded->lanes) {
      const TimeByClass sum = lane.slices.sum();
      for (std::size_t i = 0; i < slice_class_count; ++i) used[i] = used[i] || sum[i] > 0;
    }
  }
  std::vector<LegendEntry> entries;
  bool bubble = false;
  for (std::size_t i = 0; i < slice_class_count; ++i) {
    if (!used[i]) continue;
    const auto kind = static_cast<SliceClass>(i);
    const bool is_bubble_class = is_bubble(time_class_of(kind));
    if (is_bubble_class && bubble) continue;
    bubble = bubble || is_bubble_class;
    entries.push_back({view.palette.fill[i], view.palette.hatch[i],
                       is_bubble_class ? QStringLiteral("bubble") : QString::fromLatin1(to_text(kind))});
  }
  std::set<std::pair<std::size_t, std::string>> memory;
  for (const Row& row : view.rows) {
    if (row.kind != RowKind::memory) continue;
    for (const MemoryCurve& curve : view.sources[row.source].loaded->memory) {
      if (curve.rank != row.rank) continue;
      for (const std::string& name : curve.classes) memory.insert({memory_color(name), name});
    }
  }
  for (const auto& [color, name] : memory) {
    QString text = QString::fromStdString(name);
    text.replace(QLatin1Char('_'), QLatin1Char(' '));
    entries.push_back({view.palette.memory[color], view.palette.memory[color], text});
  }
  return entries;
}

int legend_height(const TimelineView& view, int width) {
  if (!view.legend || view.sources.empty()) return 0;
  const QFontMetricsF metrics(view.font);
  double x = margin;
  int lines = 1;
  for (const LegendEntry& entry : legend_of(view)) {
    const double w = entry_width(metrics, entry);
    if (x > margin && x + w - spacing > width - margin) {
      ++lines;
      x = margin;
    }
    x += w;
  }
  return static_cast<int>(lines * line_height(metrics)) + 8;
}

void fill_hatched(QPainter& painter, QRectF rect, QRgb fill, QRgb hatch) {
  painter.fillRect(rect, QColor(fill));
  if (fill == hatch) return;
  painter.save();
  painter.setPen(QPen(QColor(hatch), 1.2, Qt::SolidLine, Qt::FlatCap));
  // Cut by hand, not by the painter: SVG files have no clips. Lines meet across rectangles side by side.
  const double from = std::ceil((rect.left() + rect.bottom() - rect.height()) / period) * period;
  for (double sum = from; sum < rect.right() + rect.bottom(); sum += period) {  // x + y along a line
    const double left = std::max(rect.left(), sum - rect.bottom()), right = std::min(rect.right(), sum - rect.top());
    if (right > left) painter.drawLine(QPointF(left, sum - left), QPointF(right, sum - right));
  }
  painter.restore();
}

void paint_legend(QPainter& painter, QRectF area, const TimelineView& view) {
  painter.fillRect(area, QColor(view.palette.header));
  painter.setFont(view.font);
  const QFontMetricsF metrics(view.font);
  const double line = line_height(metrics);
  double x = area.left() + margin, y = area.top() + 4;
  for (const LegendEntry& entry : legend_of(view)) {
    const double w = entry_width(metrics, entry);
    if (x > area.left() + margin && x + w - spacing > area.right() - margin) {
      x = area.left() + margin;
      y += line;
    }
    const QRectF box(x, y + (line - swatch) / 2, swatch, swatch);
    fill_hatched(painter, box, entry.fill, entry.hatch);
    if (entry.fill != entry.hatch) {
      painter.setPen(QPen(QColor(entry.hatch), 1));
      painter.drawRect(box);
    }
    painter.setPen(QColor(view.palette.ink));
    painter.drawText(QRectF(x + swatch + 6, y, w, line), Qt::AlignLeft | Qt::AlignVCenter, entry.text);
    x += w;
  }
}

}  // namespace stagecraft::gui
