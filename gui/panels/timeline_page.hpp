#pragma once
// The timeline with its search line and the sums of the selected area.

#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/models/trace_area_model.hpp"
#include "gui/timeline/timeline_widget.hpp"

namespace stagecraft::gui {

class TimelinePage : public QWidget {
  Q_OBJECT

 public:
  explicit TimelinePage(QWidget* parent = nullptr);
  TimelineWidget& timeline() { return *timeline_; }
  /// Several: one over the other, rank by rank.
  void show_traces(const std::vector<const LoadedTrace*>& traces, const QString& title);
  void show_highlight(const std::vector<SliceClass>& classes, const QString& name);

 private:
  void show_area();
  void find(bool forward);

  TimelineWidget* timeline_;
  QLineEdit *filter_, *search_;
  QToolButton *critical_, *interleaved_, *all_;
  QLabel *title_, *shown_;
  AreaModel* area_;
  QTableView* area_table_;
};

}  // namespace stagecraft::gui
