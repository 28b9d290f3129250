#include "gui/models/trace_table.hpp"

namespace stagecraft::gui {

PlainTableModel::PlainTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void PlainTableModel::set_table(PlainTable table) {
  beginResetModel();
  table_ = std::move(table);
  endResetModel();
}

std::uint32_t PlainTableModel::tag_of(int row) const {
  const bool known = row >= 0 && static_cast<std::size_t>(row) < table_.tags.size();
  return known ? table_.tags[static_cast<std::size_t>(row)] : 0xffffffff;
}

int PlainTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.lines.size());
}

int PlainTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.headers.size());
}

QVariant PlainTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
  const std::vector<Cell>& line = table_.lines[static_cast<std::size_t>(index.row())];
  if (static_cast<std::size_t>(index.column()) >= line.size()) return {};
  const Cell& cell = line[static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole:
      return cell.text;
    case Qt::UserRole:
      return cell.value.isValid() ? cell.value : QVariant(cell.text);
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignVCenter | (cell.number ? Qt::AlignRight : Qt::AlignLeft));
    default:
      return {};
  }
}

QVariant PlainTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  if (role == Qt::DisplayRole) return table_.headers[section];
  if (role == Qt::TextAlignmentRole)
    return QVariant(Qt::AlignVCenter | (section < table_.word_columns ? Qt::AlignLeft : Qt::AlignRight));
  if (role == Qt::ToolTipRole && section < table_.explanations.size()) return table_.explanations[section];
  return {};
}

}  // namespace stagecraft::gui
