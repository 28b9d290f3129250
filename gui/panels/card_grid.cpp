#include "gui/panels/card_grid.hpp"

#include <algorithm>

namespace stagecraft::gui {

CardGrid::CardGrid(int spacing, QWidget* parent) : ItemLayout(spacing, parent) {}

QSize CardGrid::least() const {
  QSize size(1, 1);
  for (const QLayoutItem* const item : items()) size = size.expandedTo(item->minimumSize());
  return size;
}

int CardGrid::room(int width) const {
  return width - contentsMargins().left() - contentsMargins().right();
}

int CardGrid::columns(int width) const {
  int columns = std::max(count(), 1);
  const int least_width = least().width();
  const auto fits = [&] {
    return count() % columns == 0 && columns * least_width + (columns - 1) * spacing() <= room(width);
  };
  while (columns > 1 && !fits()) --columns;
  return columns;
}

int CardGrid::card_width(int width) const {
  const int across = columns(width);
  return (room(width) - (across - 1) * spacing()) / across;
}

int CardGrid::heightForWidth(int width) const {
  const int lines = std::max(count(), 1) / columns(width);
  return lines * least().height() + (lines - 1) * spacing() + contentsMargins().top() + contentsMargins().bottom();
}

QSize CardGrid::minimumSize() const {
  const QMargins margins = contentsMargins();
  return least() + QSize(margins.left() + margins.right(), margins.top() + margins.bottom());
}

QSize CardGrid::sizeHint() const {
  const QMargins margins = contentsMargins();
  return {count() * (least().width() + spacing()) + margins.left() + margins.right(),
          least().height() + margins.top() + margins.bottom()};
}

void CardGrid::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  const QRect inner = rect.marginsRemoved(contentsMargins());
  const int across = columns(rect.width()), height = least().height();
  const double step = static_cast<double>(inner.width() + spacing()) / across;
  for (int i = 0; i < count(); ++i) {
    const int left = static_cast<int>(i % across * step), right = static_cast<int>((i % across + 1) * step) - spacing();
    items()[i]->setGeometry(
        QRect(inner.left() + left, inner.top() + i / across * (height + spacing()), right - left, height));
  }
}

}  // namespace stagecraft::gui
