#pragma once
// The scatter as a widget: hovering tells a point, a click chooses it, a double click or Enter takes it.

#include <QPixmap>
#include <QTimer>
#include <QWidget>

#include "gui/sweep/paint_pareto.hpp"

namespace stagecraft::gui {

class ParetoPlot : public QWidget {
  Q_OBJECT

 public:
  explicit ParetoPlot(const SweepPointsModel& model, QWidget* parent = nullptr);

  /// -1: none. A row without figures is none.
  void set_current_row(int row);
  int current_row() const { return row_; }
  const ParetoPicture& picture();
  QSize sizeHint() const override { return {640, 320}; }
  QSize minimumSizeHint() const override { return {240, 200}; }

 Q_SIGNALS:
  void row_chosen(int row);
  void row_taken(int row);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void refresh();
  void draw_layer(double ratio);
  const PlotPoint* point_at(QPointF position) const;  // null if none is near
  const PlotPoint* point_of(int row) const;
  void step(int key);
  void choose(const PlotPoint& point);
  QFont plot_font() const;

  const SweepPointsModel& model_;
  ParetoPicture picture_;
  QPixmap layer_;  // of many points: all but the marks
  QTimer soon_;
  int row_ = -1, hovered_ = -1;
};

/// A point in words, one fact a line: what a tool tip says.
QString describe_point(const SweepPointsModel& model, int row);

}  // namespace stagecraft::gui
