#include "gui/models/trace_area_model.hpp"

#include "gui/timeline/time_axis.hpp"

namespace stagecraft::gui {
namespace {

QVariant alignment() {
  return QVariant(Qt::AlignVCenter | Qt::AlignRight);
}

}  // namespace

AreaModel::AreaModel(QObject* parent) : QAbstractTableModel(parent) {}

void AreaModel::set_sums(AreaSums sums) {
  beginResetModel();
  sums_ = std::move(sums);
  classes_.clear();
  for (std::size_t i = 0; i < slice_class_count; ++i) {
    if (sums_.sum[i] > 0) classes_.push_back(static_cast<SliceClass>(i));
  }
  endResetModel();
}

const TimeByClass& AreaModel::time_of(int row) const {
  return row == 0 ? sums_.sum : sums_.ranks[static_cast<std::size_t>(row) - 1].time;
}

int AreaModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || sums_.ranks.empty() ? 0 : static_cast<int>(sums_.ranks.size()) + 1;
}

int AreaModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(classes_.size()) + 1;
}

QVariant AreaModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return alignment();
  if (role != Qt::DisplayRole) return {};
  if (section == 0) return tr("rank");
  const auto column = static_cast<std::size_t>(section) - 1;
  return column < classes_.size() ? QVariant(QString::fromLatin1(to_text(classes_[column]))) : QVariant();
}

QVariant AreaModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
  if (role == Qt::TextAlignmentRole) return alignment();
  if (index.column() == 0) {
    if (role == Qt::UserRole)
      return index.row() == 0 ? -1 : sums_.ranks[static_cast<std::size_t>(index.row()) - 1].rank;
    if (role != Qt::DisplayRole) return {};
    return index.row() == 0 ? tr("all") : QString::number(sums_.ranks[static_cast<std::size_t>(index.row()) - 1].rank);
  }
  const TimeByClass& time = time_of(index.row());
  const std::int64_t whole = total(time);
  const double ns =
      static_cast<double>(time[static_cast<std::size_t>(classes_[static_cast<std::size_t>(index.column()) - 1])]);
  if (role == Qt::UserRole) return ns * 1e-9;
  if (role != Qt::DisplayRole) return {};
  const double share = whole > 0 ? 100.0 * ns / static_cast<double>(whole) : 0;
  return QStringLiteral("%1  (%2 %)").arg(QString::fromStdString(duration_text(ns * 1e-9))).arg(share, 0, 'f', 1);
}

}  // namespace stagecraft::gui
