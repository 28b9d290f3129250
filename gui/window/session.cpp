// The window as it was left: where it stood, what was open, edits that were not saved.

#include <QFileInfo>
#include <QSettings>

#include "gui/window/main_window.hpp"

namespace stagecraft::gui {
namespace {

/// Edits of a scenario that no file holds.
struct Draft {
  QString path, text;
  friend bool operator==(const Draft&, const Draft&) = default;
};

constexpr const char *paths_key = "kept/paths", *texts_key = "kept/texts";

std::vector<Draft> kept_drafts() {
  const QSettings settings;
  const QStringList paths = settings.value(paths_key).toStringList(), texts = settings.value(texts_key).toStringList();
  std::vector<Draft> drafts;
  for (qsizetype i = 0; i < std::min(paths.size(), texts.size()); ++i) drafts.push_back({paths[i], texts[i]});
  return drafts;
}

void keep_drafts(const std::vector<Draft>& drafts) {
  QStringList paths, texts;
  for (const Draft& draft : drafts) {
    paths.append(draft.path);
    texts.append(draft.text);
  }
  QSettings settings;
  settings.setValue(paths_key, paths);
  settings.setValue(texts_key, texts);
}

void forget_draft(const Draft& draft) {
  std::vector<Draft> drafts = kept_drafts();
  std::erase(drafts, draft);
  keep_drafts(drafts);
}

}  // namespace

/// Of the last session, unless it holds edits of another window (one before --new, or beside this one): those stay
/// where they are, or are kept apart where this window's scenario takes their place.
void MainWindow::save_open_files() {
  QSettings settings;
  const Draft last{settings.value("open/scenario").toString(), settings.value("open/unsaved").toString()};
  const QString path = QFileInfo(QString::fromStdString(document_.path())).absoluteFilePath();
  const QString unsaved = document_.modified() ? QString::fromStdString(document_.text()) : QString();
  const bool of_another = !last.text.isEmpty() && last.text != taken_over_ && last != Draft{path, unsaved};
  if (of_another && !document_.is_open()) return;
  if (of_another) {
    std::vector<Draft> drafts = kept_drafts();
    drafts.push_back(last);
    keep_drafts(drafts);
  }
  settings.setValue("open/scenario", document_.is_open() ? path : QString());
  settings.setValue("open/unsaved", unsaved);
  settings.setValue("open/trace", measured_ ? measured_path_ : QString());
  taken_over_ = unsaved;
}

void MainWindow::save_session() {
  QSettings settings;
  settings.setValue("window/geometry", saveGeometry());
  settings.setValue("window/across", across_->saveState());
  settings.setValue("window/down", down_->saveState());
  settings.setValue("window/form", show_form_->isChecked());
  settings.setValue("window/run", show_run_->isChecked());
  settings.setValue("window/tab", tabs_->currentIndex());
  settings.setValue("window/theme", static_cast<int>(theme_));
  settings.setValue("window/text_scale", text_scale_);
  settings.setValue("window/closed_groups", form_->fold_state());
  settings.setValue("simulate", simulate_->isChecked());
  settings.setValue("sweep/axes", sweep_->axes().texts());
  settings.setValue("sweep/output", sweep_->output());
  settings.setValue("sweep/estimate", sweep_->estimate());
  settings.setValue("sweep/shown", sweep_->shown_file());
  settings.setValue("recent", recent_);
  save_schedules();
  save_open_files();
}

/// False if it was told why not.
bool MainWindow::open_unsaved(const QString& path, const QString& text) {
  if (QFileInfo::exists(path)) load_scenario(path);
  try {
    const bool there = document_.is_open() && document_.path() == path.toStdString();
    if (there) document_.replace_text(text.toStdString(), tr("Unsaved changes of an earlier session"));
    if (!there) document_.restore(text.toStdString(), path.toStdString());
    return true;
  } catch (const std::exception& error) {
    report_problem(error);
    return false;
  }
}

void MainWindow::offer_drafts() {
  const std::vector<Draft> drafts = kept_drafts();
  if (drafts.empty()) return;
  const Draft first = drafts.front();
  message_->tell(tr("Changes of %1 that were not saved are kept from an earlier session.").arg(first.path), false,
                 {{tr("Open them"),
                   [this, first] {
                     leave_scenario(tr("Save, then open"), tr("Open without saving"), [this, first] {
                       if (!open_unsaved(first.path, first.text)) return;
                       save_open_files();
                       forget_draft(first);
                       offer_drafts();
                     });
                   }},
                  {tr("Throw them away"), [this, first] {
                     forget_draft(first);
                     offer_drafts();
                   }}});
}

void MainWindow::restore_session() {
  const QSettings settings;
  recent_ = settings.value("recent").toStringList();
  start_->show_recent(recent_);
  restoreGeometry(settings.value("window/geometry").toByteArray());
  across_->restoreState(settings.value("window/across").toByteArray());
  down_->restoreState(settings.value("window/down").toByteArray());
  show_form_->setChecked(settings.value("window/form", true).toBool());
  form_->setVisible(show_form_->isChecked());
  show_run_->setChecked(settings.value("window/run", false).toBool());
  run_->setVisible(show_run_->isChecked());
  if (settings.contains("window/closed_groups"))
    form_->set_fold_state(settings.value("window/closed_groups").toStringList());
  simulate_->setChecked(settings.value("simulate", true).toBool());
  evaluator_.set_simulating(simulate_->isChecked());
  tabs_->setCurrentIndex(std::clamp(settings.value("window/tab", 0).toInt(), 0, view_tab_count - 1));
  theme_ = static_cast<ThemeChoice>(std::clamp(settings.value("window/theme", 0).toInt(), 0, 2));
  for (QAction* const action : findChildren<QAction*>())
    if (action->actionGroup() != nullptr && action->data().isValid())
      action->setChecked(action->data().toInt() == static_cast<int>(theme_));
  set_theme(theme_);
  text_scale_ = set_text_scale(*qApp, settings.value("window/text_scale", 1.0).toDouble());

  if (settings.contains("sweep/axes")) sweep_->axes().set_texts(settings.value("sweep/axes").toStringList());
  sweep_->set_output(settings.value("sweep/output").toString());
  sweep_->set_estimate(settings.value("sweep/estimate").toBool());
  const QString points = settings.value("sweep/shown").toString();
  if (!points.isEmpty() && QFileInfo::exists(points)) sweep_->restore(points);

  const QString path = settings.value("open/scenario").toString();
  const QString unsaved = settings.value("open/unsaved").toString();
  if (!unsaved.isEmpty()) {
    if (open_unsaved(path, unsaved)) taken_over_ = unsaved;
  } else if (!path.isEmpty() && QFileInfo::exists(path)) {
    load_scenario(path);
  }
  const QString trace = settings.value("open/trace").toString();
  if (!trace.isEmpty() && QFileInfo::exists(trace)) open_trace(trace);
  restore_schedules();
  offer_drafts();
}

}  // namespace stagecraft::gui
