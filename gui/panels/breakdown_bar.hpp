#pragma once
// The critical path as one bar of its parts; the whole is the step.

#include <QWidget>

#include "trace/time_class.hpp"

namespace stagecraft::gui {

class BreakdownBar : public QWidget {
  Q_OBJECT

 public:
  explicit BreakdownBar(QWidget* parent = nullptr);
  void set_seconds(const Breakdown& seconds);
  void set_chosen(int part);  // index of TimeClass, -1: none
  QSize sizeHint() const override { return {480, 34}; }

 Q_SIGNALS:
  void chosen(int part);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  Breakdown seconds_{};
  int chosen_ = -1;
};

/// Fills with the colour of a class of time, hatched where it is idle; in lines, which pictures of lines keep.
void fill_part(QPainter& painter, const QRectF& box, TimeClass part, bool dark);

}  // namespace stagecraft::gui
