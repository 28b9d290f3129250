#pragma once
// A box that shows its tick under the style sheet.

#include <QCheckBox>

namespace stagecraft::gui {

class CheckBox : public QCheckBox {
  Q_OBJECT

 public:
  using QCheckBox::QCheckBox;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace stagecraft::gui
