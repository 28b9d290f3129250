#include "gui/panels/flow_layout.hpp"

#include <algorithm>

namespace stagecraft::gui {

FlowLayout::FlowLayout(int spacing, QWidget* parent) : ItemLayout(spacing, parent) {
  setContentsMargins(0, 0, 0, 0);
}

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* const item : items()) size = size.expandedTo(item->minimumSize());
  return size;
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect, true);
}

int FlowLayout::arrange(const QRect& rect, bool place) const {
  const auto width_of = [&](const QLayoutItem* item) {
    return std::min(item->sizeHint().width(), std::max(rect.width(), 1));
  };
  int y = rect.y(), end = rect.y();
  for (qsizetype first = 0; first < items().size();) {
    qsizetype last = first;  // behind the line's last
    int used = 0, height = 0, eager = 0;
    bool any = false;
    for (; last < items().size(); ++last) {
      const QLayoutItem* const item = items()[last];
      if (item->isEmpty()) continue;
      const int width = width_of(item);
      if (any && used + spacing() + width > rect.width()) break;
      used += width + (any ? spacing() : 0);
      any = true;
      height = std::max(height, item->sizeHint().height());
      eager += item->expandingDirections().testFlag(Qt::Horizontal) ? 1 : 0;
    }
    const int more = eager > 0 ? std::max(rect.width() - used, 0) / eager : 0;
    for (int x = rect.x(); first < last; ++first) {
      QLayoutItem* const item = items()[first];
      if (item->isEmpty()) continue;
      const bool grows = item->expandingDirections().testFlag(Qt::Horizontal);
      const QSize size(width_of(item) + (grows ? more : 0), item->sizeHint().height());
      if (place) item->setGeometry(QRect(QPoint(x, y), size));
      x += size.width() + spacing();
    }
    if (!any) continue;
    end = y + height;
    y = end + spacing();
  }
  return end - rect.y();
}

}  // namespace stagecraft::gui
