#pragma once
// Any schedule at once: the family by name and shape, PyTorch's CSV in and out, operations moved by hand under the eyes
// of the checker.

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTableView>

#include "gui/panels/schedule_view.hpp"

namespace stagecraft::gui {

/// What a table came from: a schedule of the family, or a file.
struct ScheduleOrigin {
  QString name, csv;
};

struct MovedTable {
  HandMade table;
  ScheduleOrigin origin;
};

/// A table of more operations is too large for the settings: its moves do not come back at the next start.
inline constexpr std::size_t most_kept_operations = 50'000;

class SchedulePanel : public QWidget {
  Q_OBJECT

 public:
  explicit SchedulePanel(QWidget* parent = nullptr);
  ScheduleGrid& grid() { return *grid_; }
  ScheduleView& view() { return *view_; }
  /// Starts from the shape of a scenario.
  void show_schedule(const QString& name, const PipelineShape& shape);
  /// Throws InputError.
  void load_csv(const QString& path);
  void save_csv(const QString& path) const;
  QString csv_path() const { return origin_.csv; }
  /// Every table with moves: those that others took the place of, and last the one shown, if it has any.
  std::vector<MovedTable> moved_tables() const;
  /// The same at a later start; `show_last` of them, the others by the button that undoes.
  void bring_back(std::vector<MovedTable> tables, bool show_last);
  std::vector<double> times_shown() const;
  /// As many as there are; what is no time is left.
  void show_times(const std::vector<double>& times);

 Q_SIGNALS:
  void load_wanted();
  void save_wanted();
  void status(const QString& text);

 private:
  void build_controls();
  void allow_shape(const FamilyEntry* entry);
  void show_controls(const ScheduleOrigin& origin, const PipelineShape& shape);
  void take_times();
  void keep_moves();
  void tell_if_not_kept();
  void undo();
  void describe(Slot slot);
  void generate();
  void show_moved(const MovedTable& moved);
  std::vector<QDoubleSpinBox*> time_boxes() const { return {forward_, input_grad_, weight_grad_, send_}; }
  void show_verdict();
  StageTimes times() const;

  ScheduleGrid* grid_;
  ScheduleView* view_;
  QTableView* table_;
  QStackedWidget* twins_;
  QComboBox* name_;
  QSpinBox *ranks_, *micro_batches_, *chunks_;
  QDoubleSpinBox *forward_, *input_grad_, *weight_grad_, *send_;
  QLabel *summary_, *verdict_, *figures_, *selection_;
  QPushButton *undo_, *as_table_;
  QWidget* controls_;
  ScheduleOrigin origin_;
  bool told_not_kept_ = false;        // of the table that is shown
  std::vector<MovedTable> replaced_;  // tables with moves, which others took the place of
};

}  // namespace stagecraft::gui
