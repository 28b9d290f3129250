#pragma once
// The table twin of the timeline: one line per span, for screen readers and for searching.

#include <QAbstractTableModel>

#include "gui/models/trace_rows.hpp"

namespace stagecraft::gui {

/// Columns: operation, rank, lane, stage, micro-batch, step, begin, duration, class, slack, critical. `Qt::UserRole`
/// gives numbers to sort by, `span_of` the index into Trace::spans. The trace has to outlive the model or be replaced.
class SliceTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit SliceTableModel(QObject* parent = nullptr);
  void set_trace(const LoadedTrace* loaded);
  /// Only spans of this stretch of time and whose line contains the text; all of them at first.
  void set_filter(double begin_s, double end_s, const QString& text);
  std::uint32_t span_of(int row) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  const LoadedTrace* loaded_ = nullptr;
  std::vector<std::uint32_t> lines_;
};

}  // namespace stagecraft::gui
