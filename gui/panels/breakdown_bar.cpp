#include "gui/panels/breakdown_bar.hpp"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "gui/panels/why_panel.hpp"
#include "gui/theme/look.hpp"
#include "gui/timeline/legend.hpp"
#include "gui/timeline/palette.hpp"
#include "report/number_text.hpp"

namespace stagecraft::gui {

void fill_part(QPainter& painter, const QRectF& box, TimeClass part, bool dark) {
  const Palette palette = make_palette(dark);
  const auto slice = static_cast<std::size_t>(slices_of(part).front());
  fill_hatched(painter, box, palette.fill[slice], palette.hatch[slice]);
}

BreakdownBar::BreakdownBar(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  follow_look(this, [this] { setFixedHeight(QFontMetrics(QApplication::font()).height() + 19); });
  setCursor(Qt::PointingHandCursor);
  setAccessibleName(tr("Parts of the step along the critical path"));
}

void BreakdownBar::set_seconds(const Breakdown& seconds) {
  seconds_ = seconds;
  QStringList parts;
  for (std::size_t i = 0; i < time_class_count; ++i)
    if (seconds_[i] > 0)
      parts.append(QString("%1 %2").arg(to_text(static_cast<TimeClass>(i)),
                                        QString::fromStdString(percent(seconds_[i] / total(seconds_)))));
  setAccessibleDescription(parts.join(", "));
  setToolTip(parts.join("\n"));
  update();
}

void BreakdownBar::set_chosen(int part) {
  chosen_ = part;
  update();
}

void BreakdownBar::mousePressEvent(QMouseEvent* event) {
  const double wanted = event->position().x() / std::max(width(), 1) * total(seconds_);
  double sum = 0;
  for (std::size_t i = 0; i < time_class_count; ++i) {
    sum += seconds_[i];
    if (sum > wanted) return Q_EMIT chosen(static_cast<int>(i));
  }
}

void BreakdownBar::paintEvent(QPaintEvent*) {
  const double sum = total(seconds_);
  if (sum <= 0) return;
  const Theme theme = current_theme();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QPainterPath frame;
  frame.addRoundedRect(rect(), 6, 6);
  painter.setClipPath(frame);
  painter.setFont(scaled_font(0.92, QFont::DemiBold));
  const Palette palette = make_palette(theme.dark);
  double x = 0;
  for (std::size_t i = 0; i < time_class_count; ++i) {
    if (seconds_[i] <= 0) continue;
    const double part = seconds_[i] / sum * width();
    const QRectF box(x, 0, part, height());
    const auto one = static_cast<TimeClass>(i);
    painter.setOpacity(chosen_ < 0 || chosen_ == static_cast<int>(i) ? 1.0 : 0.35);
    fill_part(painter, box, one, theme.dark);
    painter.fillRect(QRectF(x, 0, 1, height()), theme.panel);
    const QString label = QString::fromStdString(percent(seconds_[i] / sum));
    if (part > QFontMetrics(painter.font()).horizontalAdvance(label) + 12 && !is_bubble(one)) {
      painter.setPen(QColor::fromRgba(palette.text[static_cast<std::size_t>(slices_of(one).front())]));
      painter.drawText(box, Qt::AlignCenter, label);
    }
    x += part;
  }
}

}  // namespace stagecraft::gui
