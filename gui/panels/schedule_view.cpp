#include "gui/panels/schedule_view.hpp"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <span>

#include "gui/theme/theme.hpp"
#include "gui/timeline/legend.hpp"
#include "gui/timeline/palette.hpp"
#include "gui/timeline/time_axis.hpp"
#include "trace/level_of_detail.hpp"

namespace stagecraft::gui {
namespace {

constexpr int least_height = 24, most_height = 56, row_gap = 4, top = 26, label_width = 64, right_margin = 12;

SliceClass class_of(const Op& op) {
  Span span;
  span.kind = op.kind;
  span.lane = op.lane;
  return slice_class_of(span);
}

/// "5" where the kind is told by the colour, "2F5" where there is room.
QString label_of(const Op& op, double width, const QFontMetrics& metrics) {
  const QString whole = QString::fromStdString(to_text(op));
  if (metrics.horizontalAdvance(whole) + 6 < width) return whole;
  const QString number = op.micro_batch.valid() ? QString::number(op.micro_batch.value) : QString();
  return metrics.horizontalAdvance(number) + 2 < width ? number : QString();
}

}  // namespace

ScheduleView::ScheduleView(ScheduleGrid& grid, QWidget* parent) : QAbstractScrollArea(parent), grid_(grid) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  setAccessibleName(tr("Schedule over time; its table twin is beside it"));
  connect(&grid_, &ScheduleGrid::changed, this, [this] {
    if (grid_.name_of(selected_).isEmpty()) selected_ = {};
    if (grid_.name_of(dragged_).isEmpty()) {
      dragged_ = {};
      drop_at_ = -1;
    }
    layout();
    viewport()->update();
  });
}

void ScheduleView::layout() {
  row_height_ =
      std::clamp((viewport()->height() - top) / std::max(grid_.rowCount(), 1) - row_gap, least_height, most_height);
  const double room = viewport()->width() - label_width - right_margin;
  if (fitted_ && grid_.analysis().makespan > 0) pixels_per_unit_ = std::max(room, 50.0) / grid_.analysis().makespan;
  const int wide = static_cast<int>(std::min(grid_.analysis().makespan * pixels_per_unit_, 1e8));
  horizontalScrollBar()->setRange(0, std::max(0, wide - static_cast<int>(room)));
  horizontalScrollBar()->setPageStep(static_cast<int>(std::max(room, 1.0)));
  horizontalScrollBar()->setSingleStep(40);
  const int high = top + grid_.rowCount() * (row_height_ + row_gap);
  verticalScrollBar()->setRange(0, std::max(0, high - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(row_height_);
}

void ScheduleView::fit() {
  fitted_ = true;
  layout();
  viewport()->update();
}

void ScheduleView::zoom(double factor) {
  fitted_ = false;
  pixels_per_unit_ = std::clamp(pixels_per_unit_ * factor, 1e-4, 1e4);
  layout();
  viewport()->update();
}

QRectF ScheduleView::box_of(Slot slot) const {
  const OpSpan& span =
      grid_.analysis().spans[static_cast<std::size_t>(slot.rank)][static_cast<std::size_t>(slot.position)];
  const double x = label_width + span.start * pixels_per_unit_ - horizontalScrollBar()->value();
  const int y = top + slot.rank * (row_height_ + row_gap) - verticalScrollBar()->value();
  return {x, static_cast<double>(y), (span.end - span.start) * pixels_per_unit_, static_cast<double>(row_height_)};
}

QPoint ScheduleView::centre_of(Slot slot) const {
  return box_of(slot).center().toPoint();
}

/// Those that the rank comes to: where the schedule deadlocks, the others behind them have no times.
std::int32_t ScheduleView::operations_run(std::int32_t rank) const {
  const auto& spans = grid_.analysis().spans[static_cast<std::size_t>(rank)];
  if (grid_.analysis().complete) return static_cast<std::int32_t>(spans.size());
  const auto last = std::find_if(spans.rbegin(), spans.rend(), [](const OpSpan& span) { return span.end > 0; });
  return static_cast<std::int32_t>(spans.rend() - last);
}

std::int32_t ScheduleView::rank_at(double y_of_viewport) const {
  const int y = static_cast<int>(y_of_viewport) + verticalScrollBar()->value() - top;
  return y < 0 ? -1 : y / (row_height_ + row_gap);
}

Slot ScheduleView::slot_at(QPointF point) const {
  const std::int32_t rank = rank_at(point.y());
  if (rank < 0 || rank >= grid_.rowCount() || point.x() < label_width) return {};
  const auto spans = std::span(grid_.analysis().spans[static_cast<std::size_t>(rank)])
                         .first(static_cast<std::size_t>(operations_run(rank)));
  const double time = (point.x() - label_width + horizontalScrollBar()->value()) / pixels_per_unit_;
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), time, [](double t, const OpSpan& span) { return t < span.end; });
  if (after == spans.end() || after->start > time) return {};
  return {rank, static_cast<std::int32_t>(after - spans.begin())};
}

std::int32_t ScheduleView::place_at(std::int32_t rank, double x) const {
  const auto spans = std::span(grid_.analysis().spans[static_cast<std::size_t>(rank)])
                         .first(static_cast<std::size_t>(operations_run(rank)));
  const double time = (x - label_width + horizontalScrollBar()->value()) / pixels_per_unit_;
  const auto after = std::partition_point(spans.begin(), spans.end(),
                                          [time](const OpSpan& span) { return (span.start + span.end) / 2 < time; });
  return static_cast<std::int32_t>(after - spans.begin());
}

void ScheduleView::select(Slot slot) {
  selected_ = slot;
  if (slot.rank >= 0 && slot.position < operations_run(slot.rank)) {
    const QRectF box = box_of(slot);
    if (box.left() < label_width)
      horizontalScrollBar()->setValue(horizontalScrollBar()->value() - static_cast<int>(label_width - box.left()));
    if (box.right() > viewport()->width() - right_margin)
      horizontalScrollBar()->setValue(horizontalScrollBar()->value() +
                                      static_cast<int>(box.right() - viewport()->width() + right_margin));
    if (box.top() < top)
      verticalScrollBar()->setValue(verticalScrollBar()->value() - static_cast<int>(top - box.top()));
    if (box.bottom() > viewport()->height())
      verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(box.bottom()) -
                                    viewport()->height());
  }
  viewport()->update();
  Q_EMIT selection_changed(slot);
}

void ScheduleView::paintEvent(QPaintEvent*) {
  const Theme theme = current_theme();
  const Palette palette = make_palette(theme.dark);
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), theme.panel);
  if (grid_.empty()) return;
  const QFont font = scaled_font(0.9);
  painter.setFont(font);
  const QFontMetrics metrics(font);

  painter.setPen(theme.faint);
  const double makespan = grid_.analysis().makespan;
  const int bottom =
      std::min(viewport()->height(), top + grid_.rowCount() * (row_height_ + row_gap) - verticalScrollBar()->value());
  const double scrolled = horizontalScrollBar()->value(), room = std::max(viewport()->width() - label_width, 1);
  const TimeAxis axis{scrolled / pixels_per_unit_, (scrolled + room) / pixels_per_unit_, room};
  for (const double time : tick_times(axis, 70)) {
    if (time > makespan) break;
    const double x = label_width + axis.x_of(time);
    painter.setPen(theme.border);
    painter.drawLine(QPointF(x, top - 5), QPointF(x, bottom));
    painter.setPen(theme.faint);
    painter.drawText(QPointF(x + 3, top - 9), QString::number(time, 'g', 6));
  }

  for (std::int32_t rank = 0; rank < grid_.rowCount(); ++rank) {
    const int y = top + rank * (row_height_ + row_gap) - verticalScrollBar()->value();
    if (y + row_height_ < 0 || y > viewport()->height()) continue;
    const auto& program = grid_.schedule().programs[static_cast<std::size_t>(rank)];
    painter.save();
    painter.setClipRect(QRect(label_width, top - 2, viewport()->width() - label_width, viewport()->height()));
    const double from = label_width,
                 to = std::min<double>(viewport()->width(),
                                       label_width + makespan * pixels_per_unit_ - horizontalScrollBar()->value());
    const auto idle = static_cast<std::size_t>(SliceClass::bubble_steady);
    fill_hatched(painter, QRectF(from, y, to - from, row_height_), palette.fill[idle], palette.hatch[idle]);
    double last_right = -1;
    const std::int32_t count = operations_run(rank);
    for (std::int32_t i = 0; i < count; ++i) {
      const QRectF box = box_of({rank, i});
      if (box.right() < label_width || box.left() > viewport()->width()) continue;
      if (box.width() < 1 && box.right() < last_right + 1) continue;  // the same pixel again
      last_right = box.right();
      const auto slice = static_cast<std::size_t>(class_of(program[static_cast<std::size_t>(i)]));
      const QRectF inner = box.width() > 4 ? box.adjusted(0.5, 0, -0.5, 0) : box;
      painter.fillRect(inner, QColor::fromRgba(palette.fill[slice]));
      const QString label = label_of(program[static_cast<std::size_t>(i)], box.width(), metrics);
      if (!label.isEmpty()) {
        painter.setPen(QColor::fromRgba(palette.text[slice]));
        painter.drawText(box, Qt::AlignCenter, label);
      }
    }
    if (selected_.rank == rank && selected_.position < count) {
      painter.setPen(QPen(theme.ink, 2));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(box_of(selected_).adjusted(1, 1, -1, -1));
    }
    if (dragged_.rank == rank && drop_at_ >= 0) {
      const double x = drop_at_ < count ? box_of({rank, drop_at_}).left() : box_of({rank, count - 1}).right();
      painter.fillRect(QRectF(x - 1.5, y - 2, 3, row_height_ + 4), theme.accent);
    }
    painter.restore();
    painter.setPen(theme.faint);
    painter.drawText(QRect(0, y, label_width - 8, row_height_), Qt::AlignRight | Qt::AlignVCenter,
                     tr("rank %1").arg(rank));
  }
}

void ScheduleView::resizeEvent(QResizeEvent*) {
  layout();
}

void ScheduleView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || grid_.empty()) return;
  pressed_ = event->position();
  dragged_ = slot_at(event->position());
  drop_at_ = -1;
  select(dragged_);
}

void ScheduleView::mouseMoveEvent(QMouseEvent* event) {
  if (dragged_.rank < 0 || !(event->buttons() & Qt::LeftButton)) return;
  if ((event->position() - pressed_).manhattanLength() < QApplication::startDragDistance()) return;
  const bool within = rank_at(event->position().y()) == dragged_.rank;
  drop_at_ = within ? place_at(dragged_.rank, event->position().x()) : -1;
  viewport()->setCursor(within ? Qt::ClosedHandCursor : Qt::ForbiddenCursor);
  Q_EMIT drag_described(
      within
          ? QString()
          : tr("%1 stays on rank %2: a schedule orders the operations of a rank. Which rank runs a stage is placement, "
               "which the schedule's kind, p and v decide.")
                .arg(grid_.name_of(dragged_))
                .arg(dragged_.rank));
  viewport()->update();
}

void ScheduleView::mouseReleaseEvent(QMouseEvent*) {
  viewport()->unsetCursor();
  const Slot from = std::exchange(dragged_, Slot{});
  const std::int32_t to = std::exchange(drop_at_, -1);
  if (from.rank >= 0 && to >= 0 && grid_.move(from, to)) return select({from.rank, to > from.position ? to - 1 : to});
  if (from.rank >= 0) Q_EMIT selection_changed(selected_);  // in place of what was said of the drag
  viewport()->update();
}

void ScheduleView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Undo)) return Q_EMIT undo_wanted();
  const bool along = event->key() == Qt::Key_Left || event->key() == Qt::Key_Right;
  const bool across = event->key() == Qt::Key_Up || event->key() == Qt::Key_Down;
  if ((!along && !across) || grid_.empty()) return QAbstractScrollArea::keyPressEvent(event);
  if (selected_.rank < 0) return select({0, 0});
  const int step = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down ? 1 : -1;
  Slot next = selected_;
  if (along && (event->modifiers() & Qt::ControlModifier)) {
    if (grid_.move(selected_, step > 0 ? selected_.position + 2 : selected_.position - 1)) next.position += step;
  } else if (along) {
    next.position += step;
  } else {
    next.rank += step;
    if (next.rank >= 0 && next.rank < grid_.rowCount()) {
      const auto length =
          static_cast<std::int32_t>(grid_.schedule().programs[static_cast<std::size_t>(next.rank)].size());
      next.position = std::min(next.position, length - 1);
    }
  }
  if (!grid_.name_of(next).isEmpty()) select(next);
}

void ScheduleView::wheelEvent(QWheelEvent* event) {
  if (event->modifiers() & Qt::ControlModifier) return zoom(std::pow(1.2, event->angleDelta().y() / 120.0));
  QAbstractScrollArea::wheelEvent(event);
}

/// The undo of the editor goes before that of the scenario.
bool ScheduleView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Undo)) {
    event->accept();
    return true;
  }
  return QAbstractScrollArea::event(event);
}

bool ScheduleView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  const Slot slot = slot_at(help->pos());
  if (slot.rank < 0) {
    QToolTip::hideText();
  } else {
    const OpSpan& span =
        grid_.analysis().spans[static_cast<std::size_t>(slot.rank)][static_cast<std::size_t>(slot.position)];
    QToolTip::showText(
        help->globalPos(),
        tr("%1 on rank %2, %3 to %4").arg(grid_.name_of(slot)).arg(slot.rank).arg(span.start).arg(span.end),
        viewport());
  }
  return true;
}

}  // namespace stagecraft::gui
