#include "gui/models/schedule_grid.hpp"

#include <algorithm>
#include <utility>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "schedule/check.hpp"
#include "schedule/csv_text.hpp"

namespace stagecraft::gui {

ScheduleGrid::ScheduleGrid(QObject* parent) : QAbstractTableModel(parent) {}

void ScheduleGrid::generate(const std::string& name, const PipelineShape& shape, const StageTimes& times) {
  times_ = times;
  const FamilyEntry* const entry = find_schedule(name);
  ScheduleRequest request;
  request.shape = shape;
  request.times = times;
  refusals_ = entry == nullptr ? Findings{{Severity::error, "unknown-schedule", "", "no schedule of that name", ""}}
                               : entry->refuse(request);
  take(has_errors(refusals_) ? Schedule{} : entry->generate(request));
}

void ScheduleGrid::load_csv(const std::string& path) {
  CsvOptions options;
  options.file = path;
  Schedule schedule = load_csv_schedule(path, options);
  refusals_.clear();
  take(std::move(schedule));
}

void ScheduleGrid::save_csv(const std::string& path) const {
  const Findings refused = refuse_csv(schedule_);
  if (has_errors(refused))
    throw InputError(
        InputProblem{path, 0, 0, "", refused.front().message, "operations that PyTorch's CSV can say", ""});
  write_file_whole(path, to_csv(schedule_));
}

void ScheduleGrid::set_times(const StageTimes& times) {
  times_ = times;
  judge();
  Q_EMIT changed();
}

void ScheduleGrid::take(Schedule schedule) {
  beginResetModel();
  schedule_ = std::move(schedule);
  undone_.clear();
  judge();
  endResetModel();
  Q_EMIT changed();
}

void ScheduleGrid::judge() {
  operations_ = 0;
  columns_ = 0;
  for (const auto& program : schedule_.programs) {
    operations_ += program.size();
    columns_ = std::max(columns_, static_cast<int>(program.size()));
  }
  verdict_ = operations_ == 0 ? Findings{} : check_schedule(schedule_);
  const bool per_stage =
      times_.forward.size() > 1 && times_.forward.size() != static_cast<std::size_t>(stage_count(schedule_));
  analysis_ = operations_ == 0 ? Analysis{} : analyse(schedule_, per_stage ? StageTimes{} : times_);
}

const Op* ScheduleGrid::op_at(int rank, int position) const {
  if (rank < 0 || position < 0 || static_cast<std::size_t>(rank) >= schedule_.programs.size()) return nullptr;
  const std::vector<Op>& program = schedule_.programs[static_cast<std::size_t>(rank)];
  return static_cast<std::size_t>(position) < program.size() ? &program[static_cast<std::size_t>(position)] : nullptr;
}

bool ScheduleGrid::move(Slot from, std::int32_t to) {
  if (op_at(from.rank, from.position) == nullptr) return false;
  std::vector<Op>& program = schedule_.programs[static_cast<std::size_t>(from.rank)];
  to = std::clamp(to, 0, static_cast<std::int32_t>(program.size()));
  const std::int32_t lands = to > from.position ? to - 1 : to;
  if (lands == from.position) return false;
  const auto begin = program.begin();
  if (lands > from.position) {
    std::rotate(begin + from.position, begin + from.position + 1, begin + lands + 1);
  } else {
    std::rotate(begin + lands, begin + from.position, begin + from.position + 1);
  }
  undone_.push_back({{from.rank, lands}, from.position});
  judge();
  Q_EMIT dataChanged(index(from.rank, 0), index(from.rank, columns_ - 1));
  Q_EMIT changed();
  return true;
}

void ScheduleGrid::bring_back(const HandMade& table, const StageTimes& times) {
  times_ = times;
  refusals_.clear();
  take(table.schedule);
  undone_ = table.moves;
  Q_EMIT changed();
}

Slot ScheduleGrid::undo() {
  if (undone_.empty()) return {};
  const Moved back = undone_.back();
  undone_.pop_back();
  const std::int32_t to = back.to > back.from.position ? back.to + 1 : back.to;
  move(back.from, to);
  undone_.pop_back();
  Q_EMIT changed();
  return {back.from.rank, back.to};
}

QString ScheduleGrid::name_of(Slot slot) const {
  const Op* const op = op_at(slot.rank, slot.position);
  return op == nullptr ? QString() : QString::fromStdString(to_text(*op));
}

int ScheduleGrid::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(schedule_.programs.size());
}

int ScheduleGrid::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : columns_;
}

QVariant ScheduleGrid::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Op* const op = op_at(index.row(), index.column());
  if (op == nullptr) return {};
  if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) return QString::fromStdString(to_text(*op));
  if (role == kind_role) return static_cast<int>(op->kind);
  return {};
}

QVariant ScheduleGrid::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignVCenter | Qt::AlignLeft);
  if (role != Qt::DisplayRole) return {};
  return orientation == Qt::Vertical ? tr("rank %1").arg(section) : QString::number(section);
}

}  // namespace stagecraft::gui
