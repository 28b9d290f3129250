#include "gui/theme/check_box.hpp"

#include <QPainter>
#include <QStyleOptionButton>

#include "gui/theme/theme.hpp"

namespace stagecraft::gui {

void CheckBox::paintEvent(QPaintEvent* event) {
  QCheckBox::paintEvent(event);
  if (!isChecked()) return;
  QStyleOptionButton option;
  initStyleOption(&option);
  const QRectF box = style()->subElementRect(QStyle::SE_CheckBoxIndicator, &option, this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(current_theme().accent_ink, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  const QPointF middle = box.center();
  painter.drawPolyline(QPolygonF({middle + QPointF(-3.5, 0), middle + QPointF(-1, 2.5), middle + QPointF(3.5, -3)}));
}

}  // namespace stagecraft::gui
