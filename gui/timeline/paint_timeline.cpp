#include "gui/timeline/paint_timeline.hpp"

#include <QPaintEngine>
#include <algorithm>

#include "gui/timeline/legend.hpp"
#include "gui/timeline/memory_notes.hpp"
#include "gui/timeline/paint_cache.hpp"
#include "gui/timeline/paint_labels.hpp"
#include "gui/timeline/paint_overlays.hpp"
#include "gui/timeline/vector_rows.hpp"

namespace stagecraft::gui {
namespace {

bool is_vector(const QPainter& painter) {
  const QPaintEngine::Type type = painter.paintEngine()->type();
  return type == QPaintEngine::SVG || type == QPaintEngine::Pdf || type == QPaintEngine::Picture;
}

void paint_title(QPainter& painter, const Layout& layout, const TimelineView& view) {
  if (layout.title.height() <= 0) return;
  QString text;
  for (std::size_t i = 0; i < view.sources.size(); ++i) {
    const LoadedTrace& loaded = *view.sources[i].loaded;
    QString name = QString::fromStdString(loaded.name);
    if (!loaded.trace.kind.empty()) name += QStringLiteral(", ") + QString::fromStdString(loaded.trace.kind);
    name += QStringLiteral(", step ") +
            QString::fromStdString(duration_text((loaded.trace.end_s - loaded.trace.begin_s) / loaded.trace.steps));
    if (view.sources.size() > 1) name = QChar(QLatin1Char(static_cast<char>('A' + i))) + QStringLiteral(": ") + name;
    text += (i > 0 ? QStringLiteral("     ") : QString()) + name;
  }
  QFont font = view.font;
  font.setPixelSize(view.font.pixelSize() + 3);
  font.setWeight(QFont::DemiBold);
  painter.setFont(font);
  painter.setPen(QColor(view.palette.ink));
  painter.drawText(layout.title.adjusted(12, 0, -12, 0), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(font).elidedText(text, Qt::ElideRight, layout.title.width() - 24));
}

void paint_empty(QPainter& painter, QSize size, const TimelineView& view) {
  painter.setFont(view.font);
  painter.setPen(QColor(view.palette.faint_ink));
  painter.drawText(
      QRectF(QPointF(0, 0), QSizeF(size)), Qt::AlignCenter,
      view.sources.empty() ? QStringLiteral("No trace is open") : QStringLiteral("No row matches the filter"));
}

}  // namespace

void paint_timeline(QPainter& painter, QSize size, const TimelineView& view, PaintCache* cache) {
  const double dpr = painter.device()->devicePixelRatioF();
  const Layout layout = layout_of(view, size);
  const bool vector = is_vector(painter);
  const QRectF whole(QPointF(0, 0), QSizeF(size));
  if (vector || view.rows.empty()) {
    painter.fillRect(whole, QColor(view.palette.background));
  } else {  // the rows bring their own
    for (const QRectF& around : {whole.intersected({0, 0, whole.width(), layout.rows.top()}), layout.legend}) {
      painter.fillRect(around, QColor(view.palette.background));
    }
  }
  paint_title(painter, layout, view);
  if (view.rows.empty()) return paint_empty(painter, size, view);
  if (!vector || !paint_rows_as_shapes(painter, layout, view)) {
    PaintCache own;
    PaintCache& used = cache != nullptr ? *cache : own;
    update_rows(view, layout.rows.size().toSize(), vector ? 2 : dpr, used);
    painter.drawImage(layout.rows, used.rows);
  }
  paint_step_ends(painter, layout, view);
  paint_slice_labels(painter, layout, view, vector ? nullptr : cache);
  paint_memory_notes(painter, layout, view);
  if (view.critical_path) paint_critical_path(painter, layout, view);
  paint_marks(painter, layout, view);
  if (view.arrows) paint_arrows(painter, layout, view);
  paint_ruler(painter, layout, view);
  paint_selection(painter, layout, view);
  paint_row_labels(painter, layout, view);
  if (layout.legend.height() > 0) paint_legend(painter, layout.legend, view);
  if (view.dimmed) {
    QColor veil(view.palette.background);
    veil.setAlphaF(0.55F);
    painter.fillRect(QRectF(QPointF(0, 0), QSizeF(size)), veil);
  }
}

int full_height(const TimelineView& view) {
  const double title = view.title ? 40 : 0;
  const int width = view.label_width + static_cast<int>(view.axis.width);
  return static_cast<int>(title) + ruler_height + total_height(view.rows) + legend_height(view, width);
}

TimelineView whole_view(const std::vector<Source>& sources, QSize size, bool dark, const QFont& font) {
  TimelineView view;
  view.sources = sources;
  view.palette = make_palette(dark);
  view.font = font;
  view.title = true;
  std::vector<const LoadedTrace*> traces;
  double begin = 0, end = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    traces.push_back(sources[i].loaded);
    const double first = sources[i].loaded->trace.begin_s + sources[i].shift_s;
    const double last = sources[i].loaded->trace.end_s + sources[i].shift_s;
    begin = i == 0 ? first : std::min(begin, first);
    end = i == 0 ? last : std::max(end, last);
  }
  RowOptions options;
  options.folded = folded_at_first(traces);
  view.rows = make_rows(traces, options);
  const double width = std::max(1, size.width() - view.label_width);
  view.axis =
      fitted({begin, std::max(end, begin + 1e-9), width}, begin, end, {begin, std::max(end, begin + 1e-9)}, 0.01);
  return view;
}

}  // namespace stagecraft::gui
