#pragma once
// From the scenario in hand: check, simulate, execute here, profile this machine, write a bundle. Log and progress
// live; what is measured lays itself over the prediction.

#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTimer>

#include "gui/models/scenario_document.hpp"
#include "gui/process/child.hpp"

namespace stagecraft::gui {

enum class RunKind : std::uint8_t { check, simulate, execute, profile, bundle };

/// The words that start a run of the command-line program.
QStringList run_arguments(RunKind kind, const QString& scenario, const QString& output, int steps, bool in_process,
                          const QString& device);

class RunPanel : public QWidget {
  Q_OBJECT

 public:
  explicit RunPanel(ScenarioDocument& document, QWidget* parent = nullptr);
  /// Of a bundle: `output` is its folder.
  void start(RunKind kind, const QString& output = {});
  void cancel();
  bool running() const { return child_.running(); }
  QString log() const { return log_->toPlainText(); }
  QString state() const { return state_->text(); }
  const QProgressBar& progress() const { return *progress_; }

 Q_SIGNALS:
  void measured(const QString& trace);          // a trace file came out of an execution
  void calibrated(const QString& calibration);  // a calibration came out of a profile
  void bundle_wanted();                         // a folder is to be chosen
  void trace_wanted();                          // a file or a folder with measured traces is to be chosen
  void running_changed();

 private:
  QString scenario_file();
  void ended(int exit_code);
  void show_progress(const QString& text);
  void say(const QString& text);

  ScenarioDocument& document_;
  QTemporaryDir folder_;
  ChildRun child_;
  RunKind kind_ = RunKind::check;
  QString output_;
  QPlainTextEdit* log_;
  QProgressBar* progress_;
  QLabel* state_;
  QPushButton* cancel_;
  QList<QPushButton*> starters_;
  QSpinBox* steps_;
  QComboBox *ranks_, *device_;
  QElapsedTimer clock_;
  QTimer tick_;
};

}  // namespace stagecraft::gui
