#include "gui/timeline/paint_labels.hpp"

#include <algorithm>

#include "gui/timeline/paint_cache.hpp"

namespace stagecraft::gui {
namespace {

constexpr double narrowest_label = 14;  // pixels of a slice that may carry a name
constexpr int lowest_labelled_row = 14;
constexpr double indent = 12;
constexpr qsizetype most_words = 8192;

void triangle(QPainter& painter, QPointF middle, bool open, QColor color) {
  const QPolygonF shape = open ? QPolygonF{QPointF(-4, -2.5), QPointF(4, -2.5), QPointF(0, 3)}
                               : QPolygonF{QPointF(-2.5, -4), QPointF(-2.5, 4), QPointF(3, 0)};
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.drawPolygon(shape.translated(middle));
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setBrush(Qt::NoBrush);
}

/// The word drawn once, tightly, with its pixels.
const QImage& word_image(PaintCache& cache, const QString& text, QRgb color, const QFont& font, double dpr) {
  if (cache.labels.size() > most_words) cache.labels.clear();
  const QString key = QString::number(color, 16) + QLatin1Char('/') + QString::number(font.pixelSize()) +
                      QLatin1Char('/') + QString::number(dpr) + text;
  const auto found = cache.labels.constFind(key);
  if (found != cache.labels.constEnd()) return *found;
  const QFontMetricsF metrics(font);
  const QSizeF size(metrics.horizontalAdvance(text) + 1, metrics.height());
  QImage image((size * dpr).toSize() + QSize(1, 1), QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(dpr);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setFont(font);
  painter.setPen(QColor(color));
  painter.drawText(QPointF(0, metrics.ascent()), text);
  painter.end();
  return *cache.labels.insert(key, image);
}

struct SliceLabel {
  QString full, brief;
};

SliceLabel label_of(const LoadedTrace& loaded, const SliceRow::Slice& slice) {
  if (slice.span == no_span) {
    const bool bubble = is_bubble(time_class_of(slice.kind));
    return {bubble ? QStringLiteral("bubble") : QString::fromLatin1(to_text(slice.kind)), {}};
  }
  const Span& span = loaded.trace.spans[slice.span];
  return {QString::fromStdString(short_name(loaded.trace, span)),
          span.micro_batch >= 0 && span.segment < 0 ? QString::number(span.micro_batch) : QString()};
}

}  // namespace

void paint_ruler(QPainter& painter, const Layout& layout, const TimelineView& view) {
  const Palette& palette = view.palette;
  const QRectF whole(0, layout.ruler.top(), layout.ruler.right(), layout.ruler.height());
  painter.fillRect(whole, QColor(palette.header));
  painter.setFont(view.font);
  const QFontMetricsF metrics(view.font);
  painter.setClipRect(
      QRectF(layout.ruler.left(), layout.ruler.top(), layout.ruler.width(), layout.rows.bottom() - layout.ruler.top()));
  for (const Tick& tick : ticks(view.axis, 96)) {
    const double x = std::floor(layout.ruler.left() + view.axis.x_of(tick.time_s)) + 0.5;
    painter.setPen(QPen(QColor(palette.grid), 1));
    painter.drawLine(QPointF(x, layout.ruler.bottom() - 7), QPointF(x, layout.ruler.bottom() - 1));
    painter.setPen(QColor(palette.faint_ink));
    painter.drawText(QPointF(x + 4, layout.ruler.bottom() - 9), QString::fromStdString(tick.label));
  }
  painter.setClipping(false);
  painter.setPen(QPen(QColor(palette.grid), 1));
  painter.drawLine(QPointF(0, layout.ruler.bottom() - 0.5), QPointF(layout.ruler.right(), layout.ruler.bottom() - 0.5));
}

void paint_row_labels(QPainter& painter, const Layout& layout, const TimelineView& view) {
  const Palette& palette = view.palette;
  painter.fillRect(layout.labels, QColor(palette.header));
  painter.setClipRect(layout.labels);
  QFont bold = view.font, small = view.font;
  bold.setWeight(QFont::DemiBold);
  small.setPixelSize(std::max(8, view.font.pixelSize() - 2));
  for (const Row& row : view.rows) {
    const double y = layout.labels.top() + row.y - view.scroll_y;
    if (y > layout.labels.bottom() || y + row.height < layout.labels.top()) continue;
    const double x = 8 + row.depth * indent;
    const bool detail = row.depth == 2;
    const QFont& font = row.kind == RowKind::node ? bold : detail ? small : view.font;
    if (QFontMetricsF(font).ascent() > row.height + 4) continue;
    const double middle = row.kind == RowKind::memory ? y + 8 : y + row.height / 2.0;
    if (row.foldable) triangle(painter, QPointF(x - 2, middle), !row.folded, QColor(palette.faint_ink));
    painter.setFont(font);
    painter.setPen(QColor(detail ? palette.faint_ink : palette.ink));
    const QRectF text(x + 8, middle - 10, layout.labels.width() - x - 14, 20);
    const QString label =
        QFontMetricsF(font).elidedText(QString::fromStdString(row.label), Qt::ElideRight, text.width());
    painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, label);
  }
  painter.setClipping(false);
  painter.setPen(QPen(QColor(palette.grid), 1));
  painter.drawLine(QPointF(layout.labels.right() - 0.5, layout.labels.top()),
                   QPointF(layout.labels.right() - 0.5, layout.labels.bottom()));
}

void paint_slice_labels(QPainter& painter, const Layout& layout, const TimelineView& view, PaintCache* cache) {
  const double dpr = painter.device()->devicePixelRatioF();
  painter.setClipRect(layout.rows);
  for (const Row& row : view.rows) {
    const double y = row.y - view.scroll_y;
    if (y > layout.rows.height() || y + row.height < 0) continue;
    if (row.kind == RowKind::memory || row.lanes.size() != 1 || row.height < lowest_labelled_row) continue;
    const Source& source = view.sources[row.source];
    const SliceRow& slices = source.loaded->lanes[row.lanes.front()].slices;
    QFont font = view.font;
    if (row.height < 20) font.setPixelSize(std::max(8, view.font.pixelSize() - 2));
    const QFontMetricsF metrics(font);
    const double baseline = layout.rows.top() + y + (row.height + metrics.ascent() - metrics.descent()) / 2;
    std::size_t last = slices.size();
    // A slice that is wide enough holds at least one of these points.
    for (double x = 0; x < view.axis.width; x += narrowest_label) {
      const std::size_t i = slices.at(nanoseconds(view.axis.time_at(x) - source.shift_s));
      if (i == slices.size() || i == last) continue;
      last = i;
      const SliceRow::Slice slice = slices[i];
      const double x0 = std::max(view.axis.x_of(static_cast<double>(slice.begin_ns) * 1e-9 + source.shift_s), 0.0);
      const double x1 =
          std::min(view.axis.x_of(static_cast<double>(slice.end_ns) * 1e-9 + source.shift_s), view.axis.width);
      if (x1 - x0 < narrowest_label) continue;
      const SliceLabel label = label_of(*source.loaded, slice);
      const auto k = static_cast<std::size_t>(slice.kind);
      const bool faded = k < view.highlighted.size() && !view.highlighted[k];
      const QRgb ink = is_idle(slice.kind) || faded ? view.palette.faint_ink : view.palette.text[k];
      for (const QString& text : {label.full, label.brief}) {
        if (text.isEmpty()) continue;
        const double width = cache != nullptr ? word_image(*cache, text, ink, font, dpr).width() / dpr - 1
                                              : metrics.horizontalAdvance(text);
        if (width + 5 > x1 - x0) continue;
        const QPointF at(std::round(layout.rows.left() + (x0 + x1 - width) / 2), std::round(baseline));
        if (cache != nullptr) {
          painter.drawImage(at - QPointF(0, std::round(metrics.ascent())), word_image(*cache, text, ink, font, dpr));
        } else {
          painter.setFont(font);
          painter.setPen(QColor(ink));
          painter.drawText(at, text);
        }
        break;
      }
    }
  }
  painter.setClipping(false);
}

}  // namespace stagecraft::gui
