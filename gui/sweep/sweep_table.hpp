#pragma once
// The points as a table: sorted by any column, narrowed to one verdict, with the reason of what cannot run.

#include <QButtonGroup>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QWidget>

#include "gui/models/sweep_points.hpp"

namespace stagecraft::gui {

/// What the table is narrowed to.
enum class SweepFilter : std::uint8_t { all, frontier, runs, does_not_fit, cannot_run };
inline constexpr std::size_t sweep_filter_count = 5;
bool passes(SweepFilter filter, Verdict verdict);

class SweepTable : public QWidget {
  Q_OBJECT

 public:
  explicit SweepTable(SweepPointsModel& model, QWidget* parent = nullptr);

  void set_current_row(int row);  // of the model; -1: none
  void set_filter(SweepFilter filter);
  QTableView& view() { return *view_; }
  QSortFilterProxyModel& sorted() { return *sorted_; }
  /// Columns as wide as what stands in them; constant settings of a search, and figures of what has none, left out.
  void fit_columns();

 Q_SIGNALS:
  void row_chosen(int row);
  void row_taken(int row);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void show_counts();

  SweepPointsModel& model_;
  QSortFilterProxyModel* sorted_;
  QTableView* view_;
  QButtonGroup* filters_;
};

}  // namespace stagecraft::gui
