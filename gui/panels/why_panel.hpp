#pragma once
// Why a step takes as long as it does: its parts, each with its slices, its formula and its inputs; memory by rank.

#include <QLabel>
#include <QTableView>
#include <QTextBrowser>

#include "gui/models/breakdown_model.hpp"
#include "gui/panels/memory_bars.hpp"
#include "trace/level_of_detail.hpp"

namespace stagecraft::gui {

class BreakdownBar;

class WhyPanel : public QWidget {
  Q_OBJECT

 public:
  explicit WhyPanel(QWidget* parent = nullptr);
  /// The reports stay the caller's until the next call; either may be null.
  void show_reports(const Report* report, const Report* baseline);
  void explain(const QString& key);
  void set_stale(bool stale);
  BreakdownModel& model() { return *model_; }

 Q_SIGNALS:
  /// The slices of a part are to be shown in the timeline; empty: all.
  void slices_wanted(const std::vector<SliceClass>& classes);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void part_chosen(const QModelIndex& index);
  QModelIndex selected_part() const;
  void show_explanation();

  const Report* report_ = nullptr;
  BreakdownModel* model_;
  BreakdownBar* bar_;
  QTableView* table_;
  QTextBrowser* text_;
  QLabel* critical_;
  MemoryBars* memory_;
  QString key_ = "step_time_s", came_from_;  // what is explained; by whose link, if by one
};

/// The slices that a class of time is made of.
std::vector<SliceClass> slices_of(TimeClass part);

}  // namespace stagecraft::gui
