#include "gui/timeline/legend.hpp"

#include <algorithm>
#include <set>

#include "gui/timeline/memory_raster.hpp"
#include "gui/timeline/row_raster.hpp"
#include "gui/timeline/view_geometry.hpp"

namespace stagecraft::gui {
namespace {

constexpr double period = 5;  // of a hatch, in pixels
constexpr double swatch = 11, spacing = 18, margin = 12, least_line = 20;
constexpr int around = 8;  // above and below the lines, together

double line_height(const QFontMetricsF& metrics) {
  return std::max(least_line, std::ceil(metrics.height()) + 3);
}

double entry_width(const QFontMetricsF& metrics, const LegendEntry& entry) {
  return swatch + 6 + metrics.horizontalAdvance(entry.text) + spacing;
}

QString words_for_rest(std::size_t count) {
  return QStringLiteral("\u2026 %1 more").arg(count);
}

struct Place {
  double x = 0, end = 0;
  int line = 0;
};

std::vector<Place> lay_out(const QFontMetricsF& metrics, const std::vector<LegendEntry>& entries, double width) {
  std::vector<Place> places;
  double x = margin;
  int line = 0;
  for (const LegendEntry& entry : entries) {
    const double w = entry_width(metrics, entry);
    if (x > margin && x + w - spacing > width - margin) {
      ++line;
      x = margin;
    }
    places.push_back({x, x + w, line});
    x += w;
  }
  return places;
}

/// How many of them stand on so many lines, with room behind them for the words that the others are left out.
std::size_t count_shown(const QFontMetricsF& metrics, const std::vector<Place>& places, int lines, double width) {
  if (places.empty() || places.back().line < lines) return places.size();
  std::size_t shown = 0;
  while (places[shown].line < lines) ++shown;
  const auto has_room = [&](std::size_t count) {
    return places[count - 1].end + metrics.horizontalAdvance(words_for_rest(places.size() - count)) <= width - margin;
  };
  while (shown > 1 && places[shown - 1].line == lines - 1 && !has_room(shown)) --shown;
  return shown;
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
  const std::vector<Place> places = lay_out(metrics, legend_of(view), width);
  const int lines = places.empty() ? 1 : places.back().line + 1;
  return static_cast<int>(lines * line_height(metrics)) + around;
}

int legend_height(const TimelineView& view, int width, double room) {
  const int whole = legend_height(view, width);
  if (whole <= std::max(room / 4, room - total_height(view.rows))) return whole;
  const double line = line_height(QFontMetricsF(view.font)), lines = std::floor((room / 4 - around) / line);
  if (lines >= 1) return static_cast<int>(lines * line) + around;
  return line + around <= room / 2 ? static_cast<int>(line) + around : 0;
}

QString legend_text(const TimelineView& view) {
  QStringList lines;
  for (const LegendEntry& entry : legend_of(view))
    lines << QStringLiteral("<span style=\"color:%1\">\u25a0</span>&nbsp;%2")
                 .arg(QColor(blended(entry.fill, entry.hatch, 0.5F)).name(), entry.text.toHtmlEscaped());
  return lines.join(QStringLiteral("<br>"));
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
  const std::vector<LegendEntry> entries = legend_of(view);
  const std::vector<Place> places = lay_out(metrics, entries, area.width());
  const auto lines = static_cast<int>((area.height() - around + 1) / line);
  const std::size_t shown = count_shown(metrics, places, lines, area.width());
  const auto top_of = [&](int of) { return area.top() + around / 2.0 + of * line; };
  for (std::size_t i = 0; i < shown; ++i) {
    const LegendEntry& entry = entries[i];
    const double x = area.left() + places[i].x, y = top_of(places[i].line);
    const QRectF box(x, y + (line - swatch) / 2, swatch, swatch);
    fill_hatched(painter, box, entry.fill, entry.hatch);
    if (entry.fill != entry.hatch) {
      painter.setPen(QPen(QColor(entry.hatch), 1));
      painter.drawRect(box);
    }
    painter.setPen(QColor(view.palette.ink));
    painter.drawText(QRectF(x + swatch + 6, y, places[i].end - places[i].x, line), Qt::AlignLeft | Qt::AlignVCenter,
                     entry.text);
  }
  if (shown == 0 || shown == entries.size()) return;
  painter.setPen(QColor(view.palette.faint_ink));
  const Place& last = places[shown - 1];
  painter.drawText(QRectF(area.left() + last.end, top_of(last.line), area.width(), line),
                   Qt::AlignLeft | Qt::AlignVCenter, words_for_rest(entries.size() - shown));
}

}  // namespace stagecraft::gui
