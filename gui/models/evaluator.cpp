#include "gui/models/evaluator.hpp"

#include <QFile>
#include <utility>

#include "base/file_io.hpp"
#include "gui/models/scenario_document.hpp"
#include "gui/process/program.hpp"
#include "trace/native_format.hpp"

namespace stagecraft::gui {
namespace {

constexpr int pause_ms = 150;
constexpr int exit_ok = 0, exit_does_not_fit = 4;

}  // namespace

Evaluator::Evaluator(Library library, QObject* parent) : QObject(parent), library_(std::move(library)) {
  pause_.setSingleShot(true);
  pause_.setInterval(pause_ms);
  connect(&pause_, &QTimer::timeout, this, &Evaluator::start_simulation);
  connect(&child_, &ChildRun::ended, this, &Evaluator::simulation_ended);
}

Evaluator::~Evaluator() {
  child_.disconnect(this);
  child_.cancel();
}

void Evaluator::set_scenario(const std::string& text, const std::string& path) {
  other_file_ = other_file_ || path != path_;
  text_ = text;
  path_ = path;
  current_ = fresh_ = false;
  pause_.stop();
  child_.cancel();
  reading_.cancel();
  if (text.empty()) {
    closed_form_.cancel();
    drop_simulation();
    if (evaluation_) retired_.push_back(std::move(evaluation_));
    if (before_refusal_) retired_.push_back(std::move(before_refusal_));
    Q_EMIT evaluated();
    return;
  }
  Q_EMIT changed();
  closed_form_.run([this, text, path, library = library_](
                       const std::atomic<bool>& cancel) { next_ = evaluate(text, path, library, &cancel); },
                   [this] { take_evaluation(); });
}

void Evaluator::set_simulating(bool wanted) {
  wanted_ = wanted;
  if (!wanted) {
    pause_.stop();
    child_.cancel();
    Q_EMIT changed();
  } else if (current_ && !fresh_) {
    pause_.start();
  }
}

bool Evaluator::busy() const {
  return closed_form_.busy() || pause_.isActive() || child_.running() || reading_.busy();
}

const Report* Evaluator::report() const {
  if (fresh_ && simulated_) return &simulated_report_;
  return evaluation_ && evaluation_->done ? &evaluation_->done->report : nullptr;
}

const LoadedTrace* Evaluator::trace() const {
  if (fresh_ && simulated_) return simulated_.get();
  return evaluation_ && evaluation_->done ? evaluation_->done->loaded.get() : nullptr;
}

/// Makes room for the next one: the last that could run is kept until one can again.
void Evaluator::retire_evaluation() {
  const bool other_file = std::exchange(other_file_, false);
  const bool keeps = next_.done == nullptr && !other_file;
  if (before_refusal_ && !keeps) retired_.push_back(std::move(before_refusal_));
  if (!evaluation_) return;
  (keeps && evaluation_->done ? before_refusal_ : retired_.emplace_back()) = std::move(evaluation_);
}

void Evaluator::take_evaluation() {
  retire_evaluation();
  evaluation_ = std::make_unique<Evaluation>(std::move(next_));
  current_ = true;
  WorkedOut* const done = evaluation_->done.get();
  if (done == nullptr) drop_simulation();
  Q_EMIT evaluated();  // the figures first
  if (done == nullptr) return Q_EMIT changed();
  loading_trace_ = std::move(done->trace);
  closed_form_.run(
      [this, done](const std::atomic<bool>& cancel) { loaded_ = load(*done, std::move(loading_trace_), cancel); },
      [this] { take_loaded(); });
  if (wanted_) pause_.start();
  Q_EMIT changed();
}

void Evaluator::take_loaded() {
  if (evaluation_ && evaluation_->done) evaluation_->done->loaded = std::move(loaded_);
  Q_EMIT changed();
}

void Evaluator::let_go_of_earlier() {
  if (!reading_.busy() && !closed_form_.busy()) retired_.clear();
}

void Evaluator::start_simulation() {
  const QString program = find_stagecraft();
  if (program.isEmpty()) {
    problem_ = stagecraft_missing();
    Q_EMIT changed();
    return;
  }
  if (!folder_.isValid()) {
    problem_ = tr("No simulation: %1").arg(folder_.errorString());
    Q_EMIT changed();
    return;
  }
  const QString scenario = folder_.filePath("scenario.json"), trace = folder_.filePath("trace.sgt");
  QFile::remove(trace);
  try {
    write_file_whole(scenario.toStdString(), with_absolute_paths(text_, path_));
  } catch (const InputError& error) {
    problem_ = QString::fromStdString(error.what());
    Q_EMIT changed();
    return;
  }
  child_.start(program, {"simulate", scenario, "--trace", trace, "--format", "csv"});
  Q_EMIT changed();
}

void Evaluator::simulation_ended(int exit_code) {
  if (exit_code != exit_ok && exit_code != exit_does_not_fit) {
    problem_ = tr("The simulation ended with exit code %1: %2").arg(exit_code).arg(child_.errors().trimmed());
    Q_EMIT changed();
    return;
  }
  if (!evaluation_ || !evaluation_->done) return;
  const std::string file = folder_.filePath("trace.sgt").toStdString();
  reading_.run(
      [this, file, of = evaluation_.get()](const std::atomic<bool>& cancel) {
        finished_ = {};
        try {
          Trace trace = read_trace(file);
          finished_.report = report_of(*of, trace);
          finished_.loaded =
              make_loaded_trace(std::move(trace), of->scenario->name, memory_limit_bytes(*of->done), &cancel);
        } catch (const std::exception& error) {
          finished_.problem = QString::fromStdString(error.what());
        }
      },
      [this] { take_simulation(); });
}

void Evaluator::take_simulation() {
  problem_ = finished_.problem;
  if (finished_.loaded) {
    Q_EMIT about_to_drop_traces();
    simulated_ = std::move(finished_.loaded);
    simulated_report_ = std::move(finished_.report);
    fresh_ = true;
  }
  Q_EMIT changed();
}

void Evaluator::drop_simulation() {
  Q_EMIT about_to_drop_traces();
  simulated_.reset();
  fresh_ = false;
  problem_.clear();
}

}  // namespace stagecraft::gui
