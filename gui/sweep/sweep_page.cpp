#include "gui/sweep/sweep_page.hpp"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "gui/models/point_text.hpp"
#include "gui/process/program.hpp"
#include "gui/theme/theme.hpp"

namespace stagecraft::gui {
namespace {

QString journal_of(const QString& output) {
  return output + ".journal";
}

/// Beside the results, so that a sweep is resumed with what it began with.
QString scenario_copy_of(const QString& output) {
  return output.chopped(5) + ".scenario.json";
}

QString seconds_text(double seconds) {
  const auto whole = static_cast<qint64>(seconds + 0.5);
  if (whole < 60) return SweepPage::tr("%1 s").arg(whole);
  if (whole < 3600) return SweepPage::tr("%1 min %2 s").arg(whole / 60).arg(whole % 60);
  return SweepPage::tr("%1 h %2 min").arg(whole / 3600).arg(whole / 60 % 60);
}

std::string as_copied(const ScenarioDocument& document) {
  return with_absolute_paths(document.text(), document.path());
}

std::vector<std::string> paths_of(const PointTable& table) {
  std::vector<std::string> paths;
  for (const SweepAxis& axis : table.axes) paths.push_back(axis.path);
  return paths;
}

}  // namespace

SweepPage::SweepPage(ScenarioDocument& document, const FormModel& fields, QWidget* parent)
    : QWidget(parent), document_(document), axes_(new AxisList(fields.fields(), this)) {
  build();
  connect_parts();
  axes_->add("parallel.tensor=1..8*2");
  axes_->add("batch.micro=1,2,4");
  show_buttons();
}

QString SweepPage::next_output() const {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/sweeps";
  QDir().mkpath(folder);
  const QString stem = folder + "/" + QFileInfo(document_.name()).completeBaseName();
  int number = 1;
  const auto path = [&] { return QString("%1-%2.json").arg(stem).arg(number); };
  while (QFile::exists(path()) || QFile::exists(journal_of(path()))) ++number;
  return path();
}

bool SweepPage::may_write(SweepKind kind, const QString& output) {
  if (!output.endsWith(".json")) {
    message_->tell(tr("%1: results are JSON here, give a name that ends in .json").arg(output), true);
    return false;
  }
  const QString journal = journal_of(output);
  if (!QFile::exists(journal) && !QFile::exists(output)) return true;
  message_->tell(tr("%1 has the points of an earlier sweep.").arg(output), false,
                 {{tr("Open it"), [this, output] { open(output); }},
                  {tr("Start anew"), [this, kind, output, journal] {
                     try {
                       if (QFile::exists(journal)) (void)JournalTail(journal.toStdString()).read();  // is it one?
                     } catch (const InputError& error) {
                       return message_->tell(QString::fromStdString(error.what()), true);
                     }
                     QFile::remove(journal);
                     QFile::remove(output);
                     start(kind);
                   }}});
  return false;
}

void SweepPage::start(SweepKind kind) {
  if (run_.busy()) return;
  message_->hide();
  if (!document_.is_open()) return message_->tell(tr("Open a scenario first."), true);
  if (find_stagecraft().isEmpty()) return message_->tell(stagecraft_missing(), true);
  const QString problem = kind == SweepKind::sweep ? axes_->problem() : axes_->search_problem();
  if (!problem.isEmpty()) return message_->tell(problem, true);
  const QString file = output().isEmpty() ? next_output() : output();
  if (!may_write(kind, file)) return;
  SweepOrder order;
  order.kind = kind;
  order.scenario = scenario_copy_of(file);
  order.axes = axes_->texts();
  order.estimate = estimate();
  order.output = file;
  order.journal = journal_of(file);
  try {
    write_file_whole(order.scenario.toStdString(), as_copied(document_));
  } catch (const InputError& error) {
    return message_->tell(QString::fromStdString(error.what()), true);
  }
  begun_text_ = document_.text();
  begun_path_ = document_.path();
  shown_before_ = shown_file_ == order.journal || shown_file_ == order.output ? QString() : shown_file_;
  points_.set_table({});
  launch(order, false);
}

void SweepPage::launch(const SweepOrder& order, bool resume) {
  const QString program = find_stagecraft();
  if (program.isEmpty()) return message_->tell(stagecraft_missing(), true);
  cancelled_ = false;
  shown_file_ = order.journal;
  progress_->setRange(0, 0);
  progress_->show();
  say(order.kind == SweepKind::sweep ? tr("starting\u2026") : tr("judging every layout\u2026"));
  run_.start(program, order, resume);
  show_buttons();
  Q_EMIT running_changed();
}

void SweepPage::cancel() {
  if (!run_.running()) return;
  cancelled_ = true;
  run_.interrupt();
  say(tr("cancelling\u2026"));
}

void SweepPage::resume() {
  if (run_.busy() || !run_.unfinished()) return;
  message_->hide();
  const SweepOrder order = *run_.order();
  if (!order.scenario.isEmpty() && !QFileInfo::exists(order.scenario))
    return message_->tell(tr("The scenario of these points, %1, is not there any more.").arg(order.scenario), true);
  launch(order, true);
}

void SweepPage::open(const QString& path) {
  if (run_.busy()) return message_->tell(tr("A sweep is running; cancel it first."), true);
  message_->hide();
  shows_axes_ = true;
  read_points(path);
}

void SweepPage::restore(const QString& path) {
  if (run_.busy()) return;
  shows_axes_ = false;
  read_points(path);
}

void SweepPage::read_points(const QString& path) {
  begun_text_.clear();
  begun_path_.clear();
  points_.set_table({});
  shown_file_ = path;
  say(tr("reading %1\u2026").arg(path));
  run_.open(path);
  show_buttons();
}

/// A sweep's; of a search the values that it was restricted to, which its journal alone tells.
void SweepPage::show_axes_of_points() {
  const PointTable& table = points_.table();
  try {
    if (run_.order()) {
      std::vector<SweepAxis> axes;
      for (const QString& text : run_.order()->axes) axes.push_back(parse_axis(text.toStdString()));
      axes_->show_axes(axes);
    } else if (count_points(table.axes) == static_cast<std::int64_t>(table.points.size())) {
      axes_->show_axes(table.axes);
    }
  } catch (const InputError&) {
    // Axes that cannot be written in a row stay those of the file alone.
  }
}

void SweepPage::ended(int exit_code, const QString& errors) {
  const SweepProgress done = run_.progress();
  const SweepOrder& order = *run_.order();
  const bool sweep = order.kind == SweepKind::sweep;
  if (exit_code == 0) {
    if (!sweep) shown_file_ = order.output;
    say(sweep ? tr("all %1 points; results in %2").arg(done.total).arg(order.output)
              : tr("%1 layouts; results in %2").arg(points_.rowCount()).arg(order.output));
  } else if (cancelled_) {
    say(sweep ? tr("cancelled: %1 of %2 points are kept, Resume computes the others").arg(done.done).arg(done.total)
        : run_.unfinished() ? tr("cancelled: what was computed is kept, Resume goes on")
                            : tr("cancelled before anything was computed"));
  } else {
    say(sweep && done.total > 0 ? tr("%1 of %2 points").arg(done.done).arg(done.total) : QString());
    message_->tell(failure_text(order.kind, exit_code, errors), true);
    // What fails before its first point takes nothing away, and an earlier sweep can still be resumed.
    if (sweep && done.total == 0 && QFile::exists(shown_before_)) restore(shown_before_);
  }
  table_->fit_columns();
  show_buttons();
  Q_EMIT running_changed();
}

void SweepPage::say(const QString& text) {
  state_->setText(text);
}

void SweepPage::show_progress() {
  const SweepProgress now = run_.progress();
  if (!run_.running() || now.total == 0 || cancelled_) return;
  progress_->setRange(0, static_cast<int>(now.total));
  progress_->setValue(static_cast<int>(now.done));
  QString text = tr("%1 of %2 points").arg(now.done).arg(now.total);
  if (now.per_second > 0)
    text =
        tr("%1, %2 per second, %3 left").arg(text, QString::number(now.per_second, 'g', 3), seconds_text(now.left_s));
  say(text);
}

/// The scenario that the points are of: as it was when they were begun here, else the file that their table names, else
/// what is open.
SweepPage::Base SweepPage::base_of_points() const {
  if (!begun_text_.empty()) return {begun_text_, begun_path_, document_.path() == begun_path_};
  const std::string& file = points_.table().scenario;
  if (!file_exists(file) && document_.is_open()) return {document_.text(), document_.path(), true};
  const std::string text = read_file(file);
  const bool same = document_.is_open() && (document_.path() == file || as_copied(document_) == text);
  return same ? Base{document_.text(), document_.path(), true} : Base{text, file, false};
}

void SweepPage::take(int row) {
  if (row < 0 || row >= points_.rowCount()) return;
  try {
    const Base base = base_of_points();
    if (base.open) return set_text(base.text, row);
    const auto open_then_set = [this, base, row] {
      try {
        document_.start(base.text, base.path);
        set_text(base.text, row);
      } catch (const InputError& error) {
        message_->tell(QString::fromStdString(error.what()), true);
      }
    };
    if (!document_.modified()) return open_then_set();
    message_->tell(
        tr("%1 has changes that are not saved, and the points are of another scenario.").arg(document_.name()), false,
        {{tr("Take the point without saving"), open_then_set}});
  } catch (const InputError& error) {
    message_->tell(QString::fromStdString(error.what()), true);
  }
}

void SweepPage::set_text(const std::string& text, int row) {
  const PointTable& table = points_.table();
  std::string whole = text;
  for (const std::string& fixed : table.fixed) {
    const std::size_t equals = fixed.find('=');
    whole = with_override(whole, fixed.substr(0, equals), fixed.substr(equals + 1));
  }
  whole = with_overrides(std::move(whole), paths_of(table), points_.point(row).values);
  const QString name = points_.name_of(row);
  document_.replace_text(whole, tr("Point %1 of the sweep").arg(points_.point(row).number));
  say(tr("taken into the form: %1 (undo brings back what was there)").arg(name));
}

}  // namespace stagecraft::gui
