#include "gui/sweep/pareto_plot.hpp"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "report/number_text.hpp"

namespace stagecraft::gui {
namespace {

constexpr double near_pixels = 14;
constexpr int together_ms = 60;  // points that come one after the other are drawn together

}  // namespace

QString describe_point(const SweepPointsModel& model, int row) {
  const Point& point = model.point(row);
  QStringList lines{model.name_of(row), words_of(verdict_of(point))};
  if (has_figures(point)) {
    const PointFigures& figures = point.figures;
    lines << SweepPointsModel::tr("step %1, %2 tokens/s, MFU %3")
                 .arg(QString::fromStdString(duration(figures.step_time_s)),
                      QString::fromStdString(grouped(figures.tokens_per_s)),
                      QString::fromStdString(percent(figures.mfu)))
          << SweepPointsModel::tr("peak memory %1 of %2")
                 .arg(QString::fromStdString(gibibytes(figures.peak_memory_bytes)),
                      QString::fromStdString(gibibytes(figures.memory_limit_bytes)));
  }
  if (!point.reason.empty()) lines << QString::fromStdString(point.reason).replace("; ", "\n");
  return lines.join('\n');
}

ParetoPlot::ParetoPlot(const SweepPointsModel& model, QWidget* parent) : QWidget(parent), model_(model) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Throughput against peak memory per GPU"));
  soon_.setSingleShot(true);
  soon_.setInterval(together_ms);
  connect(&soon_, &QTimer::timeout, this, &ParetoPlot::refresh);
  const auto later = [this] {
    if (!soon_.isActive()) soon_.start();
  };
  connect(&model, &QAbstractItemModel::rowsInserted, this, later);
  connect(&model, &QAbstractItemModel::dataChanged, this, later);
  connect(&model, &QAbstractItemModel::modelReset, this, [this] {
    row_ = hovered_ = -1;
    refresh();
  });
  refresh();
}

QFont ParetoPlot::plot_font() const {
  return scaled_font(0.92);
}

void ParetoPlot::refresh() {
  soon_.stop();
  picture_ = make_pareto_picture(model_);
  lay_out(picture_, size(), plot_font());
  layer_ = {};
  const auto& counts = picture_.counts;
  QStringList words;
  for (std::size_t i = 0; i < verdict_count; ++i)
    if (counts[i] > 0) words << QString("%1 %2").arg(words_of(static_cast<Verdict>(i))).arg(counts[i]);
  setAccessibleDescription(words.join(", "));
  update();
}

const ParetoPicture& ParetoPlot::picture() {
  if (soon_.isActive()) refresh();
  return picture_;
}

void ParetoPlot::set_current_row(int row) {
  if (row == row_) return;
  row_ = row;
  update();
}

const PlotPoint* ParetoPlot::point_of(int row) const {
  const auto found = std::find_if(picture_.points.begin(), picture_.points.end(),
                                  [&](const PlotPoint& point) { return point.row == row; });
  return found == picture_.points.end() ? nullptr : &*found;
}

const PlotPoint* ParetoPlot::point_at(QPointF position) const {
  const PlotPoint* nearest = nullptr;
  double least = near_pixels;
  for (const PlotPoint& point : picture_.points) {
    const QPointF way = picture_.place(point) - position;
    const double distance = std::hypot(way.x(), way.y()) - (point.verdict == Verdict::frontier ? 2 : 0);
    if (distance < least) nearest = &point, least = distance;
  }
  return nearest;
}

void ParetoPlot::choose(const PlotPoint& point) {
  row_ = point.row;
  setAccessibleDescription(describe_point(model_, row_));
  update();
  Q_EMIT row_chosen(row_);
}

void ParetoPlot::draw_layer(double ratio) {
  layer_ = QPixmap((QSizeF(size()) * ratio).toSize());
  layer_.setDevicePixelRatio(ratio);
  layer_.fill(current_theme().panel);
  QPainter painter(&layer_);
  paint_pareto(painter, picture_, current_theme(), plot_font());
}

void ParetoPlot::paintEvent(QPaintEvent*) {
  const Theme theme = current_theme();
  QPainter painter(this);
  if (picture_.points.empty()) {
    painter.fillRect(rect(), theme.panel);
    painter.setPen(theme.faint);
    const QString text =
        model_.rowCount() == 0
            ? tr("Vary one or more fields and start a sweep, or search all layouts:\neach point appears here with its "
                 "throughput and its peak memory.")
            : tr("No point has run so far: the table has the reasons.");
    return painter.drawText(rect().adjusted(3 * gap, gap, -3 * gap, -gap), Qt::AlignCenter | Qt::TextWordWrap, text);
  }
  constexpr std::size_t few = 3000;
  if (picture_.points.size() <= few) {
    painter.fillRect(rect(), theme.panel);
    paint_pareto(painter, picture_, theme, plot_font());
  } else {  // hovering must not draw all of them again
    const double ratio = painter.device()->devicePixelRatioF();
    if (layer_.isNull() || layer_.devicePixelRatio() != ratio) draw_layer(ratio);
    painter.drawPixmap(0, 0, layer_);
  }
  if (const PlotPoint* const hovered = point_of(hovered_); hovered != nullptr && hovered_ != row_)
    paint_mark(painter, picture_, *hovered, {}, theme, plot_font());
  if (const PlotPoint* const chosen = point_of(row_))
    paint_mark(painter, picture_, *chosen, model_.name_of(row_), theme, plot_font());
  if (hasFocus()) {
    painter.setPen(QPen(theme.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void ParetoPlot::resizeEvent(QResizeEvent*) {
  refresh();
}

void ParetoPlot::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) refresh();
}

bool ParetoPlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  if (const PlotPoint* const point = point_at(help->pos())) {
    QToolTip::showText(help->globalPos(), describe_point(model_, point->row), this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

void ParetoPlot::mouseMoveEvent(QMouseEvent* event) {
  const PlotPoint* const point = point_at(event->position());
  const int row = point == nullptr ? -1 : point->row;
  if (row == hovered_) return;
  hovered_ = row;
  setCursor(row < 0 ? Qt::ArrowCursor : Qt::PointingHandCursor);
  update();
}

void ParetoPlot::leaveEvent(QEvent*) {
  hovered_ = -1;
  update();
}

void ParetoPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const PlotPoint* const point = point_at(event->position())) choose(*point);
}

void ParetoPlot::mouseDoubleClickEvent(QMouseEvent* event) {
  const PlotPoint* const point = point_at(event->position());
  if (event->button() == Qt::LeftButton && point != nullptr) Q_EMIT row_taken(point->row);
}

/// Left and Right in the order of x, Down and Up in the order of y.
void ParetoPlot::step(int key) {
  std::vector<const PlotPoint*> order;
  for (const PlotPoint& point : picture_.points) order.push_back(&point);
  if (order.empty()) return;
  if (key == Qt::Key_Up || key == Qt::Key_Down)
    std::stable_sort(order.begin(), order.end(), [](const PlotPoint* a, const PlotPoint* b) { return a->y < b->y; });
  const auto last = static_cast<std::ptrdiff_t>(order.size()) - 1;
  const auto found =
      std::find_if(order.begin(), order.end(), [&](const PlotPoint* point) { return point->row == row_; });
  std::ptrdiff_t next = 0;
  if (key == Qt::Key_End) {
    next = last;
  } else if (key != Qt::Key_Home && found != order.end()) {
    const bool forward = key == Qt::Key_Right || key == Qt::Key_Up;
    next = std::clamp<std::ptrdiff_t>(found - order.begin() + (forward ? 1 : -1), 0, last);
  }
  choose(*order[static_cast<std::size_t>(next)]);
}

void ParetoPlot::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Home:
    case Qt::Key_End:
      return step(event->key());
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (row_ >= 0) Q_EMIT row_taken(row_);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void ParetoPlot::focusInEvent(QFocusEvent*) {
  update();
}

void ParetoPlot::focusOutEvent(QFocusEvent*) {
  update();
}

}  // namespace stagecraft::gui
