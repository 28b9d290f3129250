#include "gui/models/breakdown_model.hpp"

#include <algorithm>
#include <cmath>

#include "report/number_text.hpp"

namespace stagecraft::gui {
namespace {

double at(const Breakdown& seconds, TimeClass one) {
  return seconds[static_cast<std::size_t>(one)];
}

double share(double seconds, const Breakdown& of) {
  return seconds / std::max(total(of), 1e-300);
}

QString change_text(double seconds) {
  if (seconds == 0) return QString::fromUtf8("\u00b1 0");
  const QString sign = seconds > 0 ? "+" : QString::fromUtf8("\u2212");
  return sign + QString::fromStdString(duration(std::abs(seconds)));
}

QString capital(const char* words) {
  QString text(words);
  text[0] = text[0].toUpper();
  return text;
}

}  // namespace

BreakdownModel::BreakdownModel(QObject* parent) : QAbstractTableModel(parent) {}

void BreakdownModel::set_report(const Report* report, const Report* baseline) {
  beginResetModel();
  classes_.clear();
  path_ = report == nullptr ? Breakdown{} : report->critical_path;
  mean_ = report == nullptr ? Breakdown{} : report->breakdown;
  compared_ = report != nullptr && baseline != nullptr;
  base_ = compared_ ? baseline->critical_path : Breakdown{};
  for (std::size_t i = 0; i < time_class_count && report != nullptr; ++i)
    if (path_[i] > 0 || mean_[i] > 0 || base_[i] > 0) classes_.push_back(static_cast<TimeClass>(i));
  endResetModel();
}

QString BreakdownModel::key_of(const QModelIndex& index) const {
  const auto row = static_cast<std::size_t>(index.row());
  if (row >= classes_.size()) return "step_time_s";
  const bool mean = index.column() == mean_s || index.column() == mean_share;
  return QString("%1.%2.time_s").arg(mean ? "breakdown" : "critical_path", stagecraft::key_of(classes_[row]));
}

int BreakdownModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || classes_.empty() ? 0 : static_cast<int>(classes_.size()) + 1;
}

int BreakdownModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

QString BreakdownModel::text_at(std::size_t row, int column) const {
  const bool sum = row == classes_.size();
  const double path = sum ? total(path_) : at(path_, classes_[row]);
  const double mean = sum ? total(mean_) : at(mean_, classes_[row]);
  const double base = sum ? total(base_) : at(base_, classes_[row]);
  switch (column) {
    case part:
      return sum ? tr("Step time") : capital(to_text(classes_[row]));
    case path_s:
      return QString::fromStdString(duration(path));
    case path_share:
      return QString::fromStdString(percent(share(path, path_)));
    case mean_s:
      return QString::fromStdString(duration(mean));
    case mean_share:
      return QString::fromStdString(percent(share(mean, mean_)));
    default:
      return compared_ ? change_text(path - base) : QString();
  }
}

QVariant BreakdownModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto row = static_cast<std::size_t>(index.row());
  if (role == Qt::DisplayRole) return text_at(row, index.column());
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue(Qt::AlignVCenter | (index.column() == part ? Qt::AlignLeft : Qt::AlignRight));
  if (role == share_role) return row < classes_.size() ? share(at(path_, classes_[row]), path_) : 1.0;
  return {};
}

QVariant BreakdownModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue(Qt::AlignVCenter | (section == part ? Qt::AlignLeft : Qt::AlignRight));
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case part:
      return tr("Part of the step");
    case path_s:
      return tr("Critical path");
    case path_share:
      return tr("Share");
    case mean_s:
      return tr("Mean over GPUs");
    case mean_share:
      return tr("Share");
    case change:
      return tr("Against the pin");
    default:
      return {};
  }
}

}  // namespace stagecraft::gui
