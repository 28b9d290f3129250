// Every command of the window with its key.

#include <QFileInfo>
#include <QMenuBar>
#include <QTextBrowser>

#include "gui/process/program.hpp"
#include "gui/window/main_window.hpp"

namespace stagecraft::gui {

QAction* MainWindow::add_action(QMenu* menu, const QString& title, const QKeySequence& key, std::function<void()> run) {
  QAction* const action = menu->addAction(title);
  action->setShortcut(key);
  connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
  return action;
}

void MainWindow::build_menus() {
  QMenu* const file = menuBar()->addMenu(tr("&File"));
  add_action(file, tr("&Open\u2026"), QKeySequence::Open, [this] { open_dialog(); });
  add_action(file, tr("Open a &folder of traces\u2026"), QKeySequence("Ctrl+Shift+O"),
             [this] { open_folder_dialog(); });
  recent_menu_ = file->addMenu(tr("Open &lately used"));
  connect(recent_menu_, &QMenu::aboutToShow, this, &MainWindow::build_recent_menu);
  file->addSeparator();
  add_action(file, tr("&Save"), QKeySequence::Save, [this] { save(); });
  add_action(file, tr("Save &as\u2026"), QKeySequence("Ctrl+Shift+S"), [this] { save_as_dialog(); });
  add_action(file, tr("&Export view or report\u2026"), QKeySequence("Ctrl+E"), [this] { export_dialog(); });
  file->addSeparator();
  add_action(file, tr("Close measured &trace"), QKeySequence("Ctrl+Shift+W"), [this] {
    drop_traces();
    opening_.cancel();
    measured_.reset();
    show_traces();
    show_figures();
    show_title();
  });
  add_action(file, tr("&Close scenario"), QKeySequence::Close, [this] { close_scenario(); });
  add_action(file, tr("&Quit"), QKeySequence("Ctrl+Q"), [this] { close(); });

  QMenu* const edit = menuBar()->addMenu(tr("&Edit"));
  QAction* const undo = document_.undo_stack().createUndoAction(this, tr("&Undo"));
  undo->setShortcut(QKeySequence::Undo);
  QAction* const redo = document_.undo_stack().createRedoAction(this, tr("&Redo"));
  redo->setShortcuts({QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")});
  edit->addActions({undo, redo});
  edit->addSeparator();
  add_action(edit, tr("&Pin as baseline"), QKeySequence("Ctrl+B"), [this] { pin(); });
  unpin_ = add_action(edit, tr("Un&pin"), QKeySequence("Ctrl+Shift+B"), [this] { unpin(); });
  unpin_->setEnabled(false);

  QMenu* const view = menuBar()->addMenu(tr("&View"));
  for (int i = 0; i < view_tab_count; ++i)
    add_action(view, tabs_->tabText(i), QKeySequence(QString("Ctrl+%1").arg(i + 1)),
               [this, i] { show_view(static_cast<ViewTab>(i)); });
  view->addSeparator();
  show_start_ = add_action(view, tr("&Start page"), QKeySequence("Ctrl+0"), [this] {
    stack_->setCurrentWidget(show_start_->isChecked() ? static_cast<QWidget*>(start_) : across_);
    show_state();
  });
  show_start_->setCheckable(true);
  show_form_ = add_action(view, tr("Scenario &form"), QKeySequence("F4"),
                          [this] { form_->setVisible(show_form_->isChecked()); });
  show_form_->setCheckable(true);
  show_form_->setChecked(true);
  show_run_ = add_action(view, tr("&Runs and log"), QKeySequence("F6"), [this] {
    run_->setVisible(show_run_->isChecked());
    if (show_run_->isChecked()) leave_start_page();
  });
  show_run_->setCheckable(true);
  view->addSeparator();
  QMenu* const theme = view->addMenu(tr("&Theme"));
  auto* const group = new QActionGroup(this);
  const std::pair<QString, ThemeChoice> themes[] = {{tr("As the &desktop"), ThemeChoice::system},
                                                    {tr("&Light"), ThemeChoice::light},
                                                    {tr("D&ark"), ThemeChoice::dark}};
  for (const auto& [title, choice] : themes) {
    QAction* const action = add_action(theme, title, {}, [this, choice = choice] { set_theme(choice); });
    action->setCheckable(true);
    action->setChecked(choice == theme_);
    action->setData(static_cast<int>(choice));
    group->addAction(action);
  }
  add_action(view, tr("&Larger text"), QKeySequence("Ctrl+Alt+="), [this] { scale_text(1.1); });
  add_action(view, tr("S&maller text"), QKeySequence("Ctrl+Alt+-"), [this] { scale_text(1 / 1.1); });
  add_action(view, tr("F&ull screen"), QKeySequence("F11"),
             [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });

  QMenu* const navigate = menuBar()->addMenu(tr("&Navigate"));
  add_action(navigate, tr("To the &form"), QKeySequence("Ctrl+L"), [this] {
    show_form_->setChecked(true);
    form_->show();
    form_->go_to("/parallel/tensor");
  });
  add_action(navigate, tr("To the &timeline"), QKeySequence("Ctrl+T"), [this] {
    show_view(ViewTab::timeline);
    timeline_->timeline().setFocus(Qt::ShortcutFocusReason);
  });
  navigate->addSeparator();
  navigate->addActions(timeline_->timeline().commands());

  QMenu* const run = menuBar()->addMenu(tr("&Run"));
  const auto starter = [&](const QString& title, const char* key, RunKind kind) {
    add_action(run, title, QKeySequence(key), [this, kind] { start_run(kind); });
  };
  starter(tr("&Check"), "F7", RunKind::check);
  starter(tr("&Simulate"), "F5", RunKind::simulate);
  starter(tr("&Execute here"), "F9", RunKind::execute);
  starter(tr("&Profile this machine"), "F8", RunKind::profile);
  add_action(run, tr("Write a &bundle\u2026"), QKeySequence("Ctrl+Shift+E"), [this] { bundle_dialog(); });
  cancel_run_ = add_action(run, tr("C&ancel"), QKeySequence("Shift+F5"), [this] { run_->cancel(); });
  cancel_run_->setEnabled(false);
  run->addSeparator();
  const auto sweeper = [&](const QString& title, const char* key, auto action) {
    return add_action(run, title, QKeySequence(key), [this, action] {
      show_view(ViewTab::sweep);
      action(*sweep_);
    });
  };
  sweeper(tr("S&weep"), "Ctrl+R", [](SweepPage& page) { page.start(SweepKind::sweep); });
  sweeper(tr("Search &layouts"), "Ctrl+Shift+R", [](SweepPage& page) { page.start(SweepKind::search); });
  sweeper(tr("&Resume the sweep"), "Ctrl+F5", [](SweepPage& page) { page.resume(); });
  cancel_sweep_ = sweeper(tr("Cancel t&he sweep"), "Ctrl+Shift+F5", [](SweepPage& page) { page.cancel(); });
  cancel_sweep_->setEnabled(false);
  run->addSeparator();
  simulate_ = add_action(run, tr("Simulate after every &change"), QKeySequence("Ctrl+Shift+M"),
                         [this] { evaluator_.set_simulating(simulate_->isChecked()); });
  simulate_->setCheckable(true);
  simulate_->setChecked(true);

  QMenu* const help = menuBar()->addMenu(tr("&Help"));
  add_action(help, tr("&Keys"), QKeySequence("F1"), [this] { show_keys(); });
  add_action(help, tr("&About Stagecraft"), {}, [this] {
    const QString program = find_stagecraft();
    message_->tell(tr("Stagecraft %1. %2")
                       .arg(STAGECRAFT_VERSION,
                            program.isEmpty() ? stagecraft_missing() : tr("Simulates through %1.").arg(program)),
                   false);
  });
}

void MainWindow::build_recent_menu() {
  recent_menu_->clear();
  for (const QString& path : recent_) add_action(recent_menu_, path, {}, [this, path] { open_path(path); });
  if (recent_.isEmpty()) recent_menu_->addAction(tr("nothing yet"))->setEnabled(false);
}

void MainWindow::show_keys() {
  QString rows;
  for (const QAction* const top : menuBar()->actions()) {
    if (top->menu() == nullptr) continue;
    rows += QString("<tr><td colspan=2><h3>%1</h3></td></tr>").arg(QString(top->text()).remove('&').toHtmlEscaped());
    for (const QAction* const action : top->menu()->actions()) {
      if (action->shortcuts().isEmpty()) continue;
      QStringList keys;
      for (const QKeySequence& key : action->shortcuts()) keys.append(key.toString(QKeySequence::NativeText));
      rows += QString("<tr><td style='padding-right:24px'><b>%1</b></td><td>%2</td></tr>")
                  .arg(keys.join("  ").toHtmlEscaped(), QString(action->text()).remove('&').toHtmlEscaped());
    }
  }
  auto* const keys = new QTextBrowser(this);
  keys->setWindowFlag(Qt::Tool);
  keys->setAttribute(Qt::WA_DeleteOnClose);
  keys->setWindowTitle(tr("Keys"));
  keys->setHtml("<table cellpadding=2>" + rows + "</table>");
  keys->resize(520, 640);
  auto* const escape = new QAction(keys);
  escape->setShortcut(Qt::Key_Escape);
  connect(escape, &QAction::triggered, keys, &QWidget::close);
  keys->addAction(escape);
  keys->show();
}

void MainWindow::set_theme(ThemeChoice choice) {
  theme_ = choice;
  const bool dark = choice == ThemeChoice::dark || (choice == ThemeChoice::system && desktop_is_dark());
  apply_theme(*qApp, make_theme(dark));
}

void MainWindow::scale_text(double factor) {
  text_scale_ = set_text_scale(*qApp, text_scale_ * factor);
  message_->tell(tr("Text size %1 pt").arg(QFontInfo(QApplication::font()).pointSizeF(), 0, 'f', 1), false);
}

}  // namespace stagecraft::gui
