#include "gui/panels/flow_layout.hpp"

#include <algorithm>

namespace stagecraft::gui {

FlowLayout::FlowLayout(int spacing, QWidget* parent) : QLayout(parent) {
  setContentsMargins(0, 0, 0, 0);
  setSpacing(spacing);
}

FlowLayout::~FlowLayout() {
  while (QLayoutItem* const item = takeAt(0)) delete item;
}

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* const item : items_) size = size.expandedTo(item->minimumSize());
  return size;
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect, true);
}

int FlowLayout::arrange(const QRect& rect, bool place) const {
  int x = rect.x(), y = rect.y(), line = 0;
  for (QLayoutItem* const item : items_) {
    if (item->isEmpty()) continue;
    const QSize size(std::min(item->sizeHint().width(), std::max(rect.width(), 1)), item->sizeHint().height());
    if (x > rect.x() && x + size.width() > rect.x() + rect.width()) {
      x = rect.x();
      y += line + spacing();
      line = 0;
    }
    if (place) item->setGeometry(QRect(QPoint(x, y), size));
    x += size.width() + spacing();
    line = std::max(line, size.height());
  }
  return y + line - rect.y();
}

}  // namespace stagecraft::gui
