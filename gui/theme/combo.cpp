#include "gui/theme/combo.hpp"

#include <QLineEdit>
#include <QPainter>
#include <QWheelEvent>

#include "gui/theme/theme.hpp"

namespace stagecraft::gui {

Combo::Combo(QWidget* parent) : QComboBox(parent) {}

void Combo::paintEvent(QPaintEvent* event) {
  QComboBox::paintEvent(event);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(current_theme().faint, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  const QPointF tip(width() - 12, height() / 2.0 + 2);
  painter.drawPolyline(QPolygonF({tip + QPointF(-4, -4), tip, tip + QPointF(4, -4)}));
}

void Combo::wheelEvent(QWheelEvent* event) {
  event->ignore();
}

}  // namespace stagecraft::gui
