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

 Q_SIGNALS:
  void load_wanted();
  void save_wanted();
  void status(const QString& text);

 private:
  /// What a table came from: a schedule of the family, or a file.
  struct Origin {
    QString name, csv;
  };
  struct Replaced {
    HandMade table;
    Origin origin;
  };
  void build_controls();
  void allow_shape(const FamilyEntry* entry);
  void show_controls(const Origin& origin, const PipelineShape& shape);
  void take_times();
  void keep_moves();
  void undo();
  void describe(Slot slot);
  void generate();
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
  Origin origin_;
  std::vector<Replaced> replaced_;  // tables with moves, which others took the place of
};

}  // namespace stagecraft::gui
