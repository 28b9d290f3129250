#pragma once
// A list of words that shows its arrow under the style sheet, and leaves the wheel to the page that it is on.

#include <QComboBox>

namespace stagecraft::gui {

class Combo : public QComboBox {
  Q_OBJECT

 public:
  explicit Combo(QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
};

}  // namespace stagecraft::gui
