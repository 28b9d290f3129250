#include "gui/panels/run_panel.hpp"

#include <QFile>
#include <QFontDatabase>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "gui/panels/flow_layout.hpp"
#include "gui/panels/tall_page.hpp"
#include "gui/process/program.hpp"
#include "gui/theme/combo.hpp"
#include "gui/theme/look.hpp"
#include "gui/theme/progress_line.hpp"

namespace stagecraft::gui {
namespace {

constexpr int most_log_lines = 20'000;

const char* verb_of(RunKind kind) {
  switch (kind) {
    case RunKind::check:
      return "check";
    case RunKind::simulate:
      return "simulate";
    case RunKind::execute:
      return "execute";
    case RunKind::profile:
      return "profile";
    case RunKind::bundle:
      return "bundle";
  }
  return "";
}

/// docs/exit-codes.md.
QString meaning_of(int code) {
  switch (code) {
    case 0:
      return RunPanel::tr("done");
    case 2:
      return RunPanel::tr("could not be started, see the log");
    case 3:
      return RunPanel::tr("the scenario cannot run");
    case 4:
      return RunPanel::tr("does not fit in memory");
    case 6:
      return RunPanel::tr("a rank failed");
    case 7:
      return RunPanel::tr("timed out");
    default:
      return RunPanel::tr("failed, see the log");
  }
}

}  // namespace

QStringList run_arguments(RunKind kind, const QString& scenario, const QString& output, int steps, bool in_process,
                          const QString& device) {
  QStringList words{verb_of(kind), scenario};
  if (kind == RunKind::execute) {
    words << "--steps" << QString::number(steps) << "--device" << device << "--trace" << output;
    if (in_process) words << "--in-process";
  }
  if (kind == RunKind::profile) words << "--device" << device << "--output" << output;
  if (kind == RunKind::bundle) words << "--steps" << QString::number(steps) << "--output" << output;
  return words;
}

RunPanel::RunPanel(ScenarioDocument& document, QWidget* parent)
    : QWidget(parent),
      document_(document),
      log_(new QPlainTextEdit(this)),
      progress_(make_progress_line(this)),
      state_(new QLabel(this)),
      cancel_(new QPushButton(tr("Cancel"), this)),
      steps_(new QSpinBox(this)),
      ranks_(new Combo(this)),
      device_(new Combo(this)) {
  auto* const controls = new QWidget(this);
  auto* const flow = new FlowLayout(gap, controls);
  const auto starter = [&](const QString& title, const QString& help, RunKind kind) {
    auto* const button = new QPushButton(title, controls);
    button->setToolTip(help);
    connect(button, &QPushButton::clicked, this, [this, kind] {
      if (kind == RunKind::bundle) return Q_EMIT bundle_wanted();
      start(kind);
    });
    flow->addWidget(button);
    starters_.append(button);
  };
  starter(tr("Check"), tr("Says whether the scenario can run: layout, schedule, memory"), RunKind::check);
  starter(tr("Simulate"), tr("On SimGrid, with contention; the report goes to the log"), RunKind::simulate);
  starter(tr("Execute here"), tr("Runs the schedule for real on this machine and measures it"), RunKind::execute);
  starter(tr("Profile"), tr("Times each kind of operation on this machine and uses it as calibration"),
          RunKind::profile);
  starter(tr("Bundle\u2026"), tr("Writes one folder to carry to a cluster"), RunKind::bundle);
  const auto option = [&](const QString& title, QWidget* widget) {
    auto* const box = new QWidget(controls);
    auto* const row = new QHBoxLayout(box);
    row->setContentsMargins(gap, 0, 0, 0);
    row->setSpacing(5);
    auto* const label = new QLabel(title, box);
    label->setForegroundRole(QPalette::PlaceholderText);
    widget->setAccessibleName(title);
    row->addWidget(label);
    row->addWidget(widget);
    flow->addWidget(box);
  };
  ranks_->addItem(tr("processes"));
  ranks_->addItem(tr("threads of one process"));
  device_->addItems({"cpu", "cuda"});
  steps_->setRange(1, 255);
  steps_->setValue(3);
  set_width_of(steps_, "000", 26);
  option(tr("ranks as"), ranks_);
  option(tr("on"), device_);
  option(tr("steps"), steps_);
  auto* const measured_button = new QPushButton(tr("Open measured\u2026"), controls);
  measured_button->setToolTip(tr("A trace, or a folder brought back from a cluster, over the prediction"));
  connect(measured_button, &QPushButton::clicked, this, &RunPanel::trace_wanted);
  flow->addWidget(measured_button);
  cancel_->setEnabled(false);
  flow->addWidget(cancel_);
  connect(cancel_, &QPushButton::clicked, this, &RunPanel::cancel);

  log_->setReadOnly(true);
  log_->setMaximumBlockCount(most_log_lines);
  follow_look(log_, [this] {
    QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    fixed.setPixelSize(QFontInfo(QApplication::font()).pixelSize());
    log_->setFont(fixed);
  });
  log_->setLineWrapMode(QPlainTextEdit::NoWrap);
  log_->setAccessibleName(tr("Log"));
  log_->setPlaceholderText(tr("What a run says appears here."));
  state_->setForegroundRole(QPalette::PlaceholderText);

  auto* const column = new QVBoxLayout;
  column->setContentsMargins(gap * 2, gap, gap * 2, gap);
  column->setSpacing(gap - 2);
  column->addWidget(controls);
  column->addWidget(progress_);
  column->addWidget(log_, 1);
  column->addWidget(state_);
  auto* const whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  QScrollArea* const page = make_tall_page(column, this);
  whole->addWidget(page);
  setMinimumHeight(110);  // the controls, or most of the log
  connect(this, &RunPanel::running_changed, page, [this, page] {
    if (child_.running()) page->ensureWidgetVisible(log_);
  });

  connect(&child_, &ChildRun::wrote, this, [this](const QString& text) {
    say(text);
    show_progress(text);
  });
  connect(&child_, &ChildRun::ended, this, &RunPanel::ended);
  tick_.setInterval(200);
  connect(&tick_, &QTimer::timeout, this, [this] {
    state_->setText(
        tr("%1: running for %2 s").arg(verb_of(kind_)).arg(static_cast<double>(clock_.elapsed()) / 1000, 0, 'f', 1));
  });
}

void RunPanel::say(const QString& text) {
  QTextCursor end(log_->document());
  end.movePosition(QTextCursor::End);
  end.insertText(text);
  log_->moveCursor(QTextCursor::End);
}

QString RunPanel::scenario_file() {
  const QString path = QString::fromStdString(document_.path());
  if (!document_.modified() && QFile::exists(path)) return path;
  const QString copy = folder_.filePath("scenario.json");
  write_file_whole(copy.toStdString(), with_absolute_paths(document_.text(), document_.path()));
  return copy;
}

void RunPanel::start(RunKind kind, const QString& output) {
  if (!document_.is_open()) return say(tr("Open a scenario first.\n"));
  if (child_.running()) return;
  const QString program = find_stagecraft();
  if (program.isEmpty()) return say(stagecraft_missing() + "\n");
  kind_ = kind;
  output_ = output;
  if (kind == RunKind::execute) output_ = folder_.filePath("measured.sgt");
  if (kind == RunKind::profile) output_ = folder_.filePath("calibration.json");
  if (kind == RunKind::execute || kind == RunKind::profile) QFile::remove(output_);
  try {
    const QStringList words = run_arguments(kind, scenario_file(), output_, steps_->value(),
                                            ranks_->currentIndex() == 1, device_->currentText());
    say("$ stagecraft " + words.join(' ') + "\n");
    clock_.start();
    child_.start(program, words);
  } catch (const InputError& error) {
    return say(QString::fromStdString(error.what()) + "\n");
  }
  progress_->setRange(0, 0);
  progress_->show();
  cancel_->setEnabled(true);
  for (QPushButton* const button : starters_) button->setEnabled(false);
  tick_.start();
  Q_EMIT running_changed();
}

void RunPanel::cancel() {
  if (!child_.running()) return;
  child_.cancel();
  say(tr("cancelled\n"));
  ended(-2);
}

void RunPanel::show_progress(const QString& text) {
  const QRegularExpression step("step (\\d+)(?: of |/)(\\d+)", QRegularExpression::CaseInsensitiveOption);
  QRegularExpressionMatchIterator all = step.globalMatch(text);
  while (all.hasNext()) {
    const QRegularExpressionMatch match = all.next();
    progress_->setRange(0, match.captured(2).toInt());
    progress_->setValue(match.captured(1).toInt());
  }
}

void RunPanel::ended(int exit_code) {
  tick_.stop();
  progress_->hide();
  cancel_->setEnabled(false);
  for (QPushButton* const button : starters_) button->setEnabled(true);
  state_->setText(exit_code == -2 ? tr("%1: cancelled").arg(verb_of(kind_))
                                  : tr("%1: %2 after %3 s (exit code %4)")
                                        .arg(verb_of(kind_), meaning_of(exit_code))
                                        .arg(static_cast<double>(clock_.elapsed()) / 1000, 0, 'f', 1)
                                        .arg(exit_code));
  Q_EMIT running_changed();
  if (exit_code != 0) return;
  if (kind_ == RunKind::execute && QFile::exists(output_)) Q_EMIT measured(output_);
  if (kind_ == RunKind::profile && QFile::exists(output_)) Q_EMIT calibrated(output_);
}

}  // namespace stagecraft::gui
