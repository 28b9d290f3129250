#pragma once
// Keeps the figures of a scenario up to date while it is edited: the closed form at once on another thread, then,
// when the edits pause, the simulation through the command-line program.

#include <QObject>
#include <QTemporaryDir>
#include <QTimer>
#include <memory>
#include <string>

#include "gui/models/background.hpp"
#include "gui/models/evaluation.hpp"
#include "gui/process/child.hpp"

namespace stagecraft::gui {

class Evaluator : public QObject {
  Q_OBJECT

 public:
  explicit Evaluator(Library library, QObject* parent = nullptr);
  ~Evaluator() override;

  /// Nothing to evaluate: empty text. `path` as in evaluate().
  void set_scenario(const std::string& text, const std::string& path);
  void set_simulating(bool wanted);  // false: closed form only
  bool simulating() const { return wanted_; }

  const Library& library() const { return library_; }
  /// The last one that finished. Its trace is ready a moment after it.
  const Evaluation* evaluation() const { return evaluation_.get(); }
  bool current() const { return current_; }  // it is of the text as it stands

  /// Simulation of evaluation(), or of an earlier text while fresh() is false; null if there never was one or the last
  /// one failed.
  const LoadedTrace* simulated() const { return simulated_.get(); }
  const Report* simulated_report() const { return simulated_ ? &simulated_report_ : nullptr; }
  bool fresh() const { return fresh_; }
  bool busy() const;
  /// The views hold nothing of earlier evaluations any more.
  void let_go_of_earlier();
  QString simulation_problem() const { return problem_; }

  /// The report and the trace to show: simulated if that is fresh, else the closed form. Null if there is none.
  const Report* report() const;
  const LoadedTrace* trace() const;
  /// The last scenario that could run, while the one in hand cannot: what views show dimmed. Null otherwise.
  const WorkedOut* before_refusal() const { return before_refusal_ ? before_refusal_->done.get() : nullptr; }

 Q_SIGNALS:
  void about_to_drop_traces();  // views must let go of every trace at once
  void evaluated();             // evaluation() is new; the earlier one lives until let_go_of_earlier()
  void changed();               // trace(), simulated(), fresh() or busy()

 private:
  void take_evaluation();
  void retire_evaluation();
  void take_loaded();
  void start_simulation();
  void take_simulation();
  void simulation_ended(int exit_code);
  void drop_simulation();

  struct Finished {
    std::unique_ptr<const LoadedTrace> loaded;
    Report report;
    QString problem;
  };

  Library library_;
  std::string text_, path_;
  bool wanted_ = true, current_ = false, fresh_ = false, other_file_ = false;
  QString problem_;
  QTemporaryDir folder_;
  QTimer pause_;
  ChildRun child_;
  Evaluation next_;  // written by closed_form_'s job
  Finished finished_;
  std::unique_ptr<Evaluation> evaluation_, before_refusal_;
  std::vector<std::unique_ptr<Evaluation>> retired_;  // that views and jobs may still look at
  Trace loading_trace_;                               // this and the next: of closed_form_'s second job
  std::unique_ptr<const LoadedTrace> loaded_;
  std::unique_ptr<const LoadedTrace> simulated_;
  Report simulated_report_;
  Background closed_form_, reading_;  // last: their jobs touch what is above
};

}  // namespace stagecraft::gui
