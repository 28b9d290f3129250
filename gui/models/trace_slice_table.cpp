#include "gui/models/trace_slice_table.hpp"

#include <algorithm>

#include "gui/timeline/time_axis.hpp"

namespace stagecraft::gui {
namespace {

enum Column {
  operation,
  rank,
  lane,
  stage,
  micro_batch,
  step,
  begin,
  duration,
  time_class,
  slack,
  critical,
  column_count
};

constexpr std::array<const char*, column_count> headers = {
    "operation", "rank", "lane", "stage", "micro-batch", "step", "begin", "duration", "class", "slack", "critical"};

QVariant number_or_none(std::int32_t number) {
  return number >= 0 ? QVariant(number) : QVariant();
}

QVariant alignment(int column) {
  const bool words = column == operation || column == lane || column == time_class;
  return QVariant(Qt::AlignVCenter | (words ? Qt::AlignLeft : Qt::AlignRight));
}

QString seconds(double value) {
  return QString::fromStdString(duration_text(value));
}

}  // namespace

SliceTableModel::SliceTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void SliceTableModel::set_trace(const LoadedTrace* loaded) {
  beginResetModel();
  loaded_ = loaded;
  lines_.resize(loaded == nullptr ? 0 : loaded->trace.spans.size());
  for (std::uint32_t i = 0; i < lines_.size(); ++i) lines_[i] = i;
  endResetModel();
}

void SliceTableModel::set_filter(double begin_s, double end_s, const QString& text) {
  beginResetModel();
  lines_.clear();
  for (std::uint32_t i = 0; loaded_ != nullptr && i < loaded_->trace.spans.size(); ++i) {
    const Span& span = loaded_->trace.spans[i];
    if (span.end_s < begin_s || span.begin_s > end_s) continue;
    if (!text.isEmpty()) {
      const QString line = QString::fromStdString(short_name(loaded_->trace, span)) +
                           QStringLiteral(" rank %1 stage %2 ").arg(span.rank).arg(span.stage) +
                           QString::fromLatin1(stagecraft::to_text(span.lane)) + QLatin1Char(' ') +
                           QString::fromLatin1(stagecraft::to_text(slice_class_of(span)));
      if (!line.contains(text, Qt::CaseInsensitive)) continue;
    }
    lines_.push_back(i);
  }
  endResetModel();
}

std::uint32_t SliceTableModel::span_of(int row) const {
  return row >= 0 && static_cast<std::size_t>(row) < lines_.size() ? lines_[static_cast<std::size_t>(row)] : no_span;
}

int SliceTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

int SliceTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

QVariant SliceTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  if (role == Qt::TextAlignmentRole) return alignment(section);
  if (role != Qt::DisplayRole) return {};
  return QString::fromLatin1(headers[static_cast<std::size_t>(section)]);
}

QVariant SliceTableModel::data(const QModelIndex& index, int role) const {
  const std::uint32_t i = index.isValid() ? span_of(index.row()) : no_span;
  if (i == no_span || loaded_ == nullptr) return {};
  const Span& span = loaded_->trace.spans[i];
  if (role == Qt::TextAlignmentRole) return alignment(index.column());
  const bool raw = role == Qt::UserRole;
  if (role != Qt::DisplayRole && !raw) return {};
  switch (index.column()) {
    case operation:
      return QString::fromStdString(short_name(loaded_->trace, span));
    case rank:
      return span.rank;
    case lane:
      return QString::fromLatin1(stagecraft::to_text(span.lane));
    case stage:
      return number_or_none(span.stage);
    case micro_batch:
      return number_or_none(span.micro_batch);
    case step:
      return static_cast<int>(span.step);
    case begin:
      return raw ? QVariant(span.begin_s) : QVariant(QString::fromStdString(time_text(span.begin_s, 1e-6)));
    case duration:
      return raw ? QVariant(span.end_s - span.begin_s) : QVariant(seconds(span.end_s - span.begin_s));
    case time_class:
      return QString::fromLatin1(stagecraft::to_text(slice_class_of(span)));
    case slack: {
      const double value = static_cast<double>(loaded_->slack_s[i]);
      return raw ? QVariant(value) : QVariant(span.segment < 0 ? seconds(value) : QString());
    }
    case critical:
      return raw ? QVariant(loaded_->is_critical[i]) : QVariant(loaded_->is_critical[i] ? tr("yes") : QString());
    default:
      return {};
  }
}

}  // namespace stagecraft::gui
