#pragma once
// Cells of a table with room left and right of the text.

#include <QPainter>
#include <QStyledItemDelegate>

namespace stagecraft::gui {

class PaddedDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  static constexpr int padding = 8;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem inner = option;
    if (option.state & QStyle::State_Selected) {
      QColor wash = option.palette.color(QPalette::Highlight);
      wash.setAlphaF(0.2F);
      painter->fillRect(option.rect, wash);
      inner.state &= ~QStyle::State_Selected;
    }
    inner.rect.adjust(padding, 0, -padding, 0);
    QStyledItemDelegate::paint(painter, inner, index);
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return QStyledItemDelegate::sizeHint(option, index) + QSize(2 * padding, 0);
  }
};

}  // namespace stagecraft::gui
