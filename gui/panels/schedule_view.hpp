#pragma once
// A schedule drawn over time, one row per rank. An operation can be dragged to another place of its rank, by mouse or
// with Ctrl+arrows; over another rank it says why it cannot land there.

#include <QAbstractScrollArea>

#include "gui/models/schedule_grid.hpp"

namespace stagecraft::gui {

class ScheduleView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit ScheduleView(ScheduleGrid& grid, QWidget* parent = nullptr);
  Slot selected() const { return selected_; }
  void select(Slot slot);
  void fit();  // the whole schedule into the width
  void zoom(double factor);
  QSize sizeHint() const override { return {900, 320}; }

  /// Centre of an operation, in pixels of the viewport; for tests and tools.
  QPoint centre_of(Slot slot) const;

 Q_SIGNALS:
  void selection_changed(Slot slot);
  void undo_wanted();
  void drag_described(const QString& text);  // why the dragged operation cannot land here; empty where it can

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  bool event(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  QRectF box_of(Slot slot) const;
  std::int32_t operations_run(std::int32_t rank) const;
  std::int32_t rank_at(double y_of_viewport) const;  // negative above the first; may lie beyond the last
  Slot slot_at(QPointF point) const;
  std::int32_t place_at(std::int32_t rank, double x) const;
  void layout();

  ScheduleGrid& grid_;
  Slot selected_, dragged_;
  std::int32_t drop_at_ = -1;
  QPointF pressed_;
  int row_height_ = 34;
  double pixels_per_unit_ = 20;
  bool fitted_ = true;
};

}  // namespace stagecraft::gui
