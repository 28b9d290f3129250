#pragma once
// Where the step goes, as a table: one line per class of time, along the critical path and on average over the GPUs.

#include <QAbstractTableModel>

#include "report/report.hpp"

namespace stagecraft::gui {

/// Columns: part, critical path in seconds and as a share, mean over the GPUs in seconds and as a share, change of the
/// critical path against the baseline. The last line is the sum: the step time and 100 %.
class BreakdownModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { part, path_s, path_share, mean_s, mean_share, change, column_count };
  /// The share of the critical path as a number, for bars.
  static constexpr int share_role = Qt::UserRole;

  explicit BreakdownModel(QObject* parent = nullptr);
  void set_report(const Report* report, const Report* baseline);

  /// Classes that the report has time of, in their order; the sum line has none.
  const std::vector<TimeClass>& classes() const { return classes_; }
  /// The key of the report behind a cell, for explain(): "critical_path.forward.time_s".
  QString key_of(const QModelIndex& index) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QString text_at(std::size_t row, int column) const;

  std::vector<TimeClass> classes_;
  Breakdown path_{}, mean_{}, base_{};
  bool compared_ = false;
};

}  // namespace stagecraft::gui
