#pragma once
// The view Sweep: what to vary, a sweep or search that runs in a process of its own, its points as scatter and table.

#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QWidget>

#include "gui/models/form_model.hpp"
#include "gui/models/scenario_document.hpp"
#include "gui/panels/message_bar.hpp"
#include "gui/sweep/axis_list.hpp"
#include "gui/sweep/pareto_plot.hpp"
#include "gui/sweep/sweep_run.hpp"
#include "gui/sweep/sweep_table.hpp"

namespace stagecraft::gui {

class SweepPage : public QWidget {
  Q_OBJECT

 public:
  SweepPage(ScenarioDocument& document, const FormModel& fields, QWidget* parent = nullptr);

  void start(SweepKind kind);
  void cancel();
  void resume();
  /// Points of a sweep that ran before: its journal, or the JSON of a sweep or search.
  void open(const QString& path);
  /// The same with the fields to vary as they stand: those of the last session.
  void restore(const QString& path);
  /// The scenario with this point's values into the form, as one step of undo.
  void take(int row);

  bool running() const { return run_.running(); }
  bool busy() const { return run_.busy(); }
  AxisList& axes() { return *axes_; }
  ParetoPlot& plot() { return *plot_; }
  SweepTable& table() { return *table_; }
  MessageBar& message_bar() { return *message_; }
  const SweepPointsModel& points() const { return points_; }
  QString state() const { return state_->text(); }
  /// Where results go; "": a new file in the user's data folder for each.
  QString output() const { return output_->text().trimmed(); }
  void set_output(const QString& path) { output_->setText(path); }
  /// Of the points shown; "" if there are none.
  QString shown_file() const { return shown_file_; }
  void set_estimate(bool estimate) { how_->setCurrentIndex(estimate ? 1 : 0); }
  bool estimate() const { return how_->currentIndex() == 1; }

 Q_SIGNALS:
  void running_changed();

 private:
  // sweep_controls.cpp
  void build();
  QWidget* build_controls();
  void connect_parts();
  void show_buttons();
  void show_progress();
  void choose_output();
  void choose_file();
  void choose_row(int row);

  // sweep_page.cpp
  QString next_output() const;
  bool may_write(SweepKind kind, const QString& output);
  void launch(const SweepOrder& order, bool resume);
  void ended(int exit_code, const QString& errors);
  void say(const QString& text);
  void read_points(const QString& path);
  void show_axes_of_points();
  struct Base {
    std::string text, path;
    bool open = false;  // it is what the form shows
  };
  Base base_of_points() const;
  void set_text(const std::string& text, int row);

  ScenarioDocument& document_;
  SweepPointsModel points_;
  SweepRun run_;
  std::string begun_text_, begun_path_;  // the scenario that the points are of; "" if they come from a file
  QString shown_file_;
  QString shown_before_;  // the points that stood here when a sweep was started
  bool cancelled_ = false;
  bool shows_axes_ = false;  // those of the file that is being opened

  MessageBar* message_ = nullptr;
  AxisList* axes_ = nullptr;
  QComboBox* how_ = nullptr;
  QLineEdit* output_ = nullptr;
  QPushButton *start_ = nullptr, *search_ = nullptr, *cancel_ = nullptr, *resume_ = nullptr, *open_ = nullptr,
              *take_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QLabel* state_ = nullptr;
  ParetoPlot* plot_ = nullptr;
  SweepTable* table_ = nullptr;
};

}  // namespace stagecraft::gui
