#include "gui/theme/elided_label.hpp"

#include <QHelpEvent>
#include <QPainter>
#include <QStyle>
#include <QToolTip>

namespace stagecraft::gui {

QString ElidedLabel::shown_text() const {
  return fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width());
}

QSize ElidedLabel::minimumSizeHint() const {
  const int least = fontMetrics().horizontalAdvance(QString(3, 'x') + QChar(0x2026));
  return {std::min(least, sizeHint().width()), QLabel::minimumSizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent* event) {
  if (shown_text() == text()) return QLabel::paintEvent(event);
  QPainter painter(this);
  style()->drawItemText(&painter, contentsRect(), static_cast<int>(alignment() | Qt::AlignVCenter), palette(),
                        isEnabled(), shown_text(), foregroundRole());
}

bool ElidedLabel::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || shown_text() == text()) return QLabel::event(event);
  QToolTip::showText(static_cast<const QHelpEvent*>(event)->globalPos(), text(), this);
  return true;
}

}  // namespace stagecraft::gui
