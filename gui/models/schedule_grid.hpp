#pragma once
// A pipeline schedule as a table that can be edited: ranks by operations, timed and checked after every move.

#include <QAbstractTableModel>
#include <optional>
#include <string>
#include <vector>

#include "base/findings.hpp"
#include "schedule/analyse.hpp"
#include "schedule/family.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft::gui {

/// A cell: operation `position` of rank `rank`.
struct Slot {
  std::int32_t rank = -1, position = -1;
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// Operation `from` went to position `to` of its rank.
struct Moved {
  Slot from;
  std::int32_t to = 0;
};

/// A schedule with the moves that made it, as undo takes them back.
struct HandMade {
  Schedule schedule;
  std::vector<Moved> moves;
};

/// More operations than this are shown but not laid out as a table of cells.
inline constexpr std::size_t most_grid_operations = 200'000;

class ScheduleGrid : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr int kind_role = Qt::UserRole;  // OpKind as a number

  explicit ScheduleGrid(QObject* parent = nullptr);

  /// A schedule of the family; what refuses it stays in refusals() and the table is empty then.
  void generate(const std::string& name, const PipelineShape& shape, const StageTimes& times);
  /// Throws InputError.
  void load_csv(const std::string& path);
  /// Whole or not at all. Throws InputError.
  void save_csv(const std::string& path) const;
  void set_times(const StageTimes& times);

  const Schedule& schedule() const { return schedule_; }
  const Analysis& analysis() const { return analysis_; }
  const StageTimes& times() const { return times_; }
  const Findings& refusals() const { return refusals_; }
  const Findings& verdict() const { return verdict_; }  // of check_schedule; empty: proved
  bool empty() const { return operations_ == 0; }
  std::size_t operations() const { return operations_; }

  /// Takes the operation out and puts it before what stands at position `to` of its rank. A move to another rank is
  /// refused: the placement of stages says where an operation runs. False if nothing moved.
  bool move(Slot from, std::int32_t to);
  bool can_undo() const { return !undone_.empty(); }
  Slot undo();  // where the operation is again
  HandMade hand_made() const { return {schedule_, undone_}; }
  void bring_back(const HandMade& table, const StageTimes& times);

  /// "2F5" of a cell.
  QString name_of(Slot slot) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 Q_SIGNALS:
  void changed();

 private:
  void take(Schedule schedule);
  void judge();
  const Op* op_at(int rank, int position) const;

  Schedule schedule_;
  StageTimes times_;
  Analysis analysis_;
  Findings refusals_, verdict_;
  std::vector<Moved> undone_;
  std::size_t operations_ = 0;
  int columns_ = 0;
};

}  // namespace stagecraft::gui
