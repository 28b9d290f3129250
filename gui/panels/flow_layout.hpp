#pragma once
// Lines of widgets that break where the width ends; those that expand share what is left of their line.

#include "gui/panels/item_layout.hpp"

namespace stagecraft::gui {

class FlowLayout : public ItemLayout {
  Q_OBJECT

 public:
  explicit FlowLayout(int spacing, QWidget* parent = nullptr);
  Qt::Orientations expandingDirections() const override { return {}; }
  int heightForWidth(int width) const override { return arrange(QRect(0, 0, width, 0), false); }
  QSize minimumSize() const override;
  QSize sizeHint() const override { return minimumSize(); }
  void setGeometry(const QRect& rect) override;

 private:
  int arrange(const QRect& rect, bool place) const;  // height
};

}  // namespace stagecraft::gui
