#pragma once
// One line of words that ends in an ellipsis where there is no room, with the whole of it as tool tip.

#include <QLabel>

namespace stagecraft::gui {

class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  using QLabel::QLabel;
  /// What stands there now; text() is the whole.
  QString shown_text() const;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
};

}  // namespace stagecraft::gui
