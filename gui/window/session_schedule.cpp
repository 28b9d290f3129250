// The schedule editor as it was left: its times, the file it shows, tables with operations that were moved by hand.

#include <QFileInfo>
#include <QSettings>

#include "gui/models/hand_made_text.hpp"
#include "gui/window/main_window.hpp"

namespace stagecraft::gui {
namespace {

constexpr const char *moved_key = "schedule/moved", *shown_key = "schedule/moved_is_shown", *file_key = "schedule/file",
                     *times_key = "schedule/times";
constexpr qsizetype most_kept = 20, most_kept_characters = 4 << 20;  // of tables, and of all of them together

/// What the table came from on two lines, then the table.
QString kept_text(const MovedTable& moved) {
  return moved.origin.name + '\n' + moved.origin.csv + '\n' + QString::fromStdString(to_text(moved.table));
}

std::size_t operations_of(const Schedule& schedule) {
  std::size_t count = 0;
  for (const auto& program : schedule.programs) count += program.size();
  return count;
}

/// The last ones that are not too many, nor too large together.
QStringList newest(const QStringList& texts) {
  qsizetype first = texts.size(), characters = 0;
  while (first > 0 && texts.size() - first < most_kept) {
    characters += texts[first - 1].size();
    if (characters > most_kept_characters) break;
    --first;
  }
  return texts.mid(first);
}

MovedTable parse_kept(const QString& text) {
  return {parse_hand_made(text.section('\n', 2).toStdString()), {text.section('\n', 0, 0), text.section('\n', 1, 1)}};
}

}  // namespace

/// Moved tables of another window (one before --new, or one beside this) stay, before those of this one.
void MainWindow::save_schedules() {
  QSettings settings;
  settings.setValue(file_key, schedule_->csv_path());
  QVariantList times;
  for (const double time : schedule_->times_shown()) times.append(time);
  settings.setValue(times_key, times);
  QStringList own;
  bool shown = schedule_->grid().can_undo();
  const std::vector<MovedTable> tables = schedule_->moved_tables();
  for (const MovedTable& moved : tables) {
    if (operations_of(moved.table.schedule) <= most_kept_operations) {
      own.append(kept_text(moved));
    } else if (&moved == &tables.back()) {
      shown = false;  // the panel told so
    }
  }
  if (own.isEmpty() && kept_schedules_.isEmpty()) return;
  QStringList all = settings.value(moved_key).toStringList();
  for (const QString& text : kept_schedules_ + own) all.removeAll(text);
  all += own;
  settings.setValue(moved_key, newest(all));
  settings.setValue(shown_key, shown);
  kept_schedules_ = own;
}

void MainWindow::restore_schedules() {
  const QSettings settings;
  std::vector<double> times;
  for (const QVariant& time : settings.value(times_key).toList()) times.push_back(time.toDouble());
  schedule_->show_times(times);
  kept_schedules_ = settings.value(moved_key).toStringList();
  std::vector<MovedTable> tables;
  bool shown = settings.value(shown_key).toBool();
  for (const QString& text : kept_schedules_) {
    try {
      tables.push_back(parse_kept(text));
    } catch (const std::exception& error) {
      shown = false;
      report_problem(error);
    }
  }
  const QString file = settings.value(file_key).toString();
  if (!shown && QFileInfo::exists(file)) open_schedule(file);
  schedule_->bring_back(std::move(tables), shown);
}

}  // namespace stagecraft::gui
