#pragma once
// Cards of one size: all of them side by side, or in as many lines as the narrowest card that can be read asks for.

#include "gui/panels/item_layout.hpp"

namespace stagecraft::gui {

class CardGrid : public ItemLayout {
  Q_OBJECT

 public:
  explicit CardGrid(int spacing, QWidget* parent = nullptr);
  Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }
  int heightForWidth(int width) const override;
  QSize minimumSize() const override;
  QSize sizeHint() const override;
  void setGeometry(const QRect& rect) override;
  /// Of a card, where the whole is `width` wide.
  int card_width(int width) const;

 private:
  int columns(int width) const;  // a divisor of their number, so that every line is full
  QSize least() const;           // of the card that needs most
  int room(int width) const;     // between the margins
};

}  // namespace stagecraft::gui
