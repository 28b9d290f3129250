#pragma once
// The sums of an area as a table: a line per rank and one for all, a column per class that occurs.

#include <QAbstractTableModel>

#include "gui/models/trace_area.hpp"

namespace stagecraft::gui {

class AreaModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit AreaModel(QObject* parent = nullptr);
  void set_sums(AreaSums sums);  // an empty one empties the table

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  const TimeByClass& time_of(int row) const;

  AreaSums sums_;
  std::vector<SliceClass> classes_;  // of columns 1..
};

}  // namespace stagecraft::gui
