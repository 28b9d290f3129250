// The window as it was left: where it stood, what was open, edits that were not saved.

#include <QFileInfo>
#include <QSettings>

#include "gui/window/main_window.hpp"

namespace stagecraft::gui {

void MainWindow::save_session() const {
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
  settings.setValue("open/scenario", document_.is_open()
                                         ? QFileInfo(QString::fromStdString(document_.path())).absoluteFilePath()
                                         : QString());
  settings.setValue("open/unsaved", document_.modified() ? QString::fromStdString(document_.text()) : QString());
  settings.setValue("open/trace", measured_ ? measured_path_ : QString());
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

  if (settings.contains("sweep/axes")) sweep_->axes().set_texts(settings.value("sweep/axes").toStringList());
  sweep_->set_output(settings.value("sweep/output").toString());
  sweep_->set_estimate(settings.value("sweep/estimate").toBool());
  const QString points = settings.value("sweep/shown").toString();
  if (!points.isEmpty() && QFileInfo::exists(points)) sweep_->open(points);

  const QString path = settings.value("open/scenario").toString();
  const QString unsaved = settings.value("open/unsaved").toString();
  if (!path.isEmpty() && QFileInfo::exists(path)) load_scenario(path);
  if (!unsaved.isEmpty()) {
    try {
      if (!document_.is_open()) document_.start(unsaved.toStdString(), path.toStdString());
      document_.replace_text(unsaved.toStdString(), tr("Unsaved changes of the last session"));
    } catch (const std::exception& error) {
      report_problem(error);
    }
  }
  const QString trace = settings.value("open/trace").toString();
  if (!trace.isEmpty() && QFileInfo::exists(trace)) open_trace(trace);
}

}  // namespace stagecraft::gui
