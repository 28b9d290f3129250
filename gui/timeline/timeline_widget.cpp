#include "gui/timeline/timeline_widget.hpp"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "gui/theme/look.hpp"
#include "gui/timeline/describe.hpp"
#include "gui/timeline/legend.hpp"
#include "gui/timeline/paint_cache.hpp"
#include "gui/timeline/paint_timeline.hpp"
#include "gui/timeline/timeline_state.hpp"
#include "gui/timeline/view_geometry.hpp"

namespace stagecraft::gui {
namespace {

constexpr double drag_from = 4;   // pixels before a click becomes a drag
constexpr int largest_text = 16;  // pixels that the rows, whose heights stay, have room for

}  // namespace

TimelineWidget::TimelineWidget(QWidget* parent)
    : QAbstractScrollArea(parent), cache_(std::make_unique<PaintCache>()), state_(std::make_unique<State>()) {
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  setAccessibleName(tr("Timeline"));
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  follow_look(this, [this] {
    view_.font = QApplication::font();
    view_.font.setPixelSize(std::clamp(QFontInfo(view_.font).pixelSize(), 11, largest_text));
    if (!view_.sources.empty()) update_scroll_bars();
    changed();
  });
  view_.palette = make_palette(palette().color(QPalette::Window).lightness() < 128);
  make_commands();
}

TimelineWidget::~TimelineWidget() = default;

void TimelineWidget::set_palette(const Palette& palette) {
  view_.palette = palette;
  changed();
}

void TimelineWidget::set_dimmed(bool dimmed) {
  if (view_.dimmed == dimmed) return;
  view_.dimmed = dimmed;
  viewport()->update();
}

void TimelineWidget::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  paint_timeline(painter, viewport()->size(), view_, cache_.get());
}

void TimelineWidget::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  const double width = std::max(1.0, rows_rect().width());
  view_.axis.width = width;
  if (!view_.sources.empty()) view_.axis = clamped(view_.axis, limits());
  update_scroll_bars();
}

void TimelineWidget::wheelEvent(QWheelEvent* event) {
  const QPoint turn = event->angleDelta();
  const QPointF at = event->position() - rows_rect().topLeft();
  if (event->modifiers() & Qt::ControlModifier) {
    const double factor = std::pow(2.0, -turn.y() / 240.0);
    set_axis(zoomed(view_.axis, factor, std::clamp(at.x(), 0.0, view_.axis.width), limits()), false);
  } else {
    const bool sideways = (event->modifiers() & Qt::ShiftModifier) || std::abs(turn.x()) > std::abs(turn.y());
    const int by = turn.x() != 0 && sideways ? turn.x() : turn.y();
    if (sideways) {
      set_axis(panned(view_.axis, -by, limits()), false);
    } else {
      scroll_by(-by);
    }
  }
  event->accept();
}

void TimelineWidget::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::BackButton || event->button() == Qt::ForwardButton) {
    go_back(event->button() == Qt::BackButton);
    return;
  }
  const Layout layout = layout_of(view_, viewport()->size());
  const QPointF at = event->position();
  if (layout.labels.contains(at) && event->button() == Qt::LeftButton) {
    const std::size_t row = row_at(view_.rows, static_cast<int>(at.y() - layout.rows.top()) + view_.scroll_y);
    if (row < view_.rows.size()) set_folded(row, !view_.rows[row].folded);
    return;
  }
  state_->on_ruler = layout.ruler.contains(at);
  if (view_.sources.empty() || !(layout.rows.contains(at) || state_->on_ruler)) return;
  start_drag(event);
}

void TimelineWidget::start_drag(QMouseEvent* event) {
  state_->pressed = state_->panned_to = event->position() - rows_rect().topLeft();
  state_->moved = false;
  if (event->button() == Qt::MiddleButton) {
    state_->drag = Drag::zoom;
  } else if (event->button() == Qt::LeftButton) {
    state_->drag = state_->on_ruler || (event->modifiers() & Qt::ShiftModifier) ? Drag::area : Drag::pan;
  }
}

void TimelineWidget::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position() - rows_rect().topLeft();
  if (state_->drag != Drag::none) return drag_to(at);
  hover(at);
}

void TimelineWidget::drag_to(QPointF at) {
  if (!state_->moved && (at - state_->pressed).manhattanLength() < drag_from) return;
  state_->moved = true;
  if (state_->drag == Drag::pan) {
    viewport()->setCursor(Qt::ClosedHandCursor);
    const QPointF by = at - state_->panned_to;
    state_->panned_to = at;
    scroll_by(-static_cast<int>(std::lround(by.y())));
    set_axis(panned(view_.axis, -std::round(by.x()), limits()), false);
    return;
  }
  view_.area = area_between(state_->pressed, at);
  viewport()->update();
  if (state_->drag == Drag::area) Q_EMIT area_changed();
}

void TimelineWidget::mouseReleaseEvent(QMouseEvent* event) {
  if (state_->drag == Drag::none) return;
  end_drag(event->position() - rows_rect().topLeft());
  state_->drag = Drag::none;
  viewport()->unsetCursor();
}

void TimelineWidget::end_drag(QPointF at) {
  if (!state_->moved) {
    if (state_->drag == Drag::pan && !state_->on_ruler) select(slice_at(view_, at));
    return;
  }
  if (state_->drag == Drag::zoom) {
    const Area area = area_between(state_->pressed, at);
    view_.area.reset();
    set_axis(fitted(view_.axis, area.begin_s, area.end_s, limits(), 0), true);
  }
}

void TimelineWidget::mouseDoubleClickEvent(QMouseEvent* event) {
  const QPointF at = event->position() - rows_rect().topLeft();
  if (!QRectF(QPointF(0, 0), rows_rect().size()).contains(at)) return mousePressEvent(event);
  const auto slice = slice_at(view_, at);
  if (!slice) return;
  select(slice);
  fit_selection();
}

Area TimelineWidget::area_between(QPointF a, QPointF b) const {
  const double x0 = std::clamp(std::min(a.x(), b.x()), 0.0, view_.axis.width);
  const double x1 = std::clamp(std::max(a.x(), b.x()), 0.0, view_.axis.width);
  Area area{view_.axis.time_at(x0), view_.axis.time_at(x1), 0, view_.rows.size() - 1};
  if (state_->on_ruler || state_->drag == Drag::zoom) return area;
  const auto nearest = [&](double y) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < view_.rows.size() && view_.rows[i].y - view_.scroll_y <= y; ++i) best = i;
    return best;
  };
  area.first_row = nearest(std::min(a.y(), b.y()));
  area.last_row = nearest(std::max(a.y(), b.y()));
  return area;
}

void TimelineWidget::hover(QPointF at) {
  const QRectF rows(QPointF(0, 0), rows_rect().size());
  state_->mouse = at;
  state_->mouse_inside = rows.contains(at);
  const bool over_time = at.x() >= 0 && at.x() < rows.width();
  view_.cursor_s = over_time && !view_.sources.empty() ? std::optional(view_.axis.time_at(at.x())) : std::nullopt;
  view_.hovered = state_->mouse_inside ? slice_at(view_, at) : std::nullopt;
  viewport()->update();
  if (state_->mouse_inside) Q_EMIT described(describe_point(view_, at));
}

bool TimelineWidget::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const Layout layout = layout_of(view_, viewport()->size());
    const QPointF at = help->pos();
    const QString text = layout.rows.contains(at)     ? describe_point(view_, at - layout.rows.topLeft())
                         : layout.legend.contains(at) ? legend_text(view_)
                                                      : QString();
    QToolTip::showText(help->globalPos(), text, viewport());
    return true;
  }
  if (event->type() == QEvent::Leave) {
    view_.cursor_s.reset();
    view_.hovered.reset();
    state_->mouse_inside = false;
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace stagecraft::gui
