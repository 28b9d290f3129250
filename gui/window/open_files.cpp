// Opening, saving and exporting; no dialog blocks, and what goes wrong is told in the message bar.

#include <QBuffer>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "gui/models/trace_open.hpp"
#include "gui/process/program.hpp"
#include "gui/render/picture.hpp"
#include "gui/window/file_kind.hpp"
#include "gui/window/main_window.hpp"
#include "report/formats.hpp"

namespace stagecraft::gui {
namespace {

constexpr qsizetype most_recent = 10;

QStringList picture_endings() {
  return {"png", "svg"};
}

QStringList report_endings() {
  return {"json", "csv", "md", "txt"};
}

/// A dialog that goes away by itself.
QFileDialog* file_dialog(QWidget* parent, const QString& title, const QString& filter) {
  auto* const dialog = new QFileDialog(parent, title, {}, filter);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  return dialog;
}

}  // namespace

void MainWindow::report_problem(const std::exception& error) {
  message_->tell(QString::fromStdString(error.what()), true);
}

void MainWindow::open_path(const QString& path) {
  switch (kind_of_file(path)) {
    case FileKind::scenario:
      return open_scenario(path);
    case FileKind::trace:
    case FileKind::folder:
      return open_trace(path);
    case FileKind::schedule_csv:
      if (!open_schedule(path)) return;
      show_view(ViewTab::schedule);
      return remember(path);
    case FileKind::sweep:
      sweep_->open(path);
      show_view(ViewTab::sweep);
      return remember(path);
    case FileKind::missing:
      return message_->tell(tr("%1: there is no such file").arg(path), true);
    case FileKind::unknown:
      return message_->tell(tr("%1 is no scenario (.json), trace (.sgt, Chrome or Kineto .json), schedule (.csv) or "
                               "sweep (.journal, .json)")
                                .arg(path),
                            true);
  }
}

/// Runs `then` at once if nothing would be lost by it, else when the user has said what becomes of the changes.
void MainWindow::leave_scenario(const QString& save_first, const QString& without, std::function<void()> then) {
  form_->finish_typing();
  if (!document_.modified()) return then();
  message_->tell(tr("%1 has changes that are not saved.").arg(document_.name()), false,
                 {{save_first,
                   [this, then] {
                     save();
                     if (!document_.modified()) then();
                   }},
                  {without, then}});
}

void MainWindow::open_scenario(const QString& path) {
  leave_scenario(tr("Save, then open"), tr("Open without saving"), [this, path] { load_scenario(path); });
}

void MainWindow::close_scenario() {
  leave_scenario(tr("Save, then close"), tr("Close without saving"), [this] {
    document_.close();
    message_->hide();
  });
}

void MainWindow::load_scenario(const QString& path) {
  try {
    document_.open(path.toStdString());
    message_->hide();
    leave_start_page();
    remember(path);
  } catch (const std::exception& error) {
    report_problem(error);
  }
}

/// False if it was told why not.
bool MainWindow::open_schedule(const QString& path) {
  try {
    schedule_->load_csv(path);
    return true;
  } catch (const std::exception& error) {
    report_problem(error);
    return false;
  }
}

void MainWindow::open_trace(const QString& path) {
  const double limit = evaluator_.trace() == nullptr ? 0 : evaluator_.trace()->memory_limit_bytes;
  described_->setText(tr("reading %1\u2026").arg(path));
  measured_path_ = path;
  opening_.run(
      [this, path, limit](const std::atomic<bool>& cancel) {
        opened_.reset();
        opened_problem_.clear();
        try {
          const std::string file = path.toStdString();
          Trace trace = QFileInfo(path).isDir() ? read_trace_folder(file) : read_any_trace(file);
          opened_ = make_loaded_trace(std::move(trace), QFileInfo(path).fileName().toStdString(), limit, &cancel);
        } catch (const std::bad_alloc&) {
          opened_problem_ = tr("%1 does not fit into this machine's memory").arg(path);
        } catch (const std::exception& error) {
          opened_problem_ = QString::fromStdString(error.what());
        }
      },
      [this, path] {
        described_->clear();
        if (!opened_) return message_->tell(opened_problem_, true);
        drop_traces();
        measured_ = std::move(opened_);
        if (!path.startsWith(QDir::tempPath())) remember(path);
        show_traces();
        show_figures();
        show_title();
        show_view(evaluator_.trace() != nullptr ? ViewTab::compare : ViewTab::timeline);
      });
}

void MainWindow::open_dialog() {
  QFileDialog* const dialog = file_dialog(
      this, tr("Open"), tr("Scenarios, traces, schedules, sweeps (*.json *.sgt *.csv *.journal);;All files (*)"));
  dialog->setFileMode(QFileDialog::ExistingFiles);
  dialog->setDirectory(document_.is_open() ? QFileInfo(QString::fromStdString(document_.path())).absolutePath()
                                           : scenario_folder());
  connect(dialog, &QFileDialog::filesSelected, this, [this](const QStringList& paths) {
    for (const QString& path : paths) open_path(path);
  });
  dialog->open();
}

void MainWindow::open_folder_dialog() {
  QFileDialog* const dialog = file_dialog(this, tr("Open a folder of measured traces"), {});
  dialog->setFileMode(QFileDialog::Directory);
  connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::open_path);
  dialog->open();
}

void MainWindow::save() {
  if (!document_.is_open()) return;
  form_->finish_typing();
  try {
    document_.save(document_.path());
  } catch (const std::exception& error) {
    message_->tell(QString::fromStdString(error.what()), true, {{tr("Save as\u2026"), [this] { save_as_dialog(); }}});
  }
}

void MainWindow::save_as_dialog() {
  if (!document_.is_open()) return;
  form_->finish_typing();
  QFileDialog* const dialog = file_dialog(this, tr("Save the scenario as"), tr("Scenarios (*.json)"));
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix("json");
  dialog->selectFile(document_.name());
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
    try {
      document_.save(path.toStdString());
      evaluator_.set_scenario(document_.text(), document_.path());
      remember(path);
    } catch (const std::exception& error) {
      report_problem(error);
    }
  });
  dialog->open();
}

void MainWindow::export_view(ViewTab tab, const QString& path) {
  if (tab == ViewTab::timeline) return write_timeline_picture(timeline_->timeline().view(), path);
  write_page_picture(*page(tab), path);
}

void MainWindow::export_report(const QString& path) {
  const Report* const report = evaluator_.report();
  if (report == nullptr) throw InputError(InputProblem{path.toStdString(), 0, 0, "", "no figures", "a report", ""});
  const QString ending = QFileInfo(path).suffix().toLower();
  const std::string text = ending == "json"  ? to_json(*report)
                           : ending == "csv" ? to_csv(*report)
                           : ending == "md"  ? to_markdown(*report)
                                             : to_text(*report, false);
  write_file_whole(path.toStdString(), text);
}

void MainWindow::export_file(const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  if (picture_endings().contains(ending)) return export_view(shown_view(), path);
  if (report_endings().contains(ending)) return export_report(path);
  throw InputError(InputProblem{path.toStdString(), 0, 0, "",
                                ending.isEmpty() ? "a name without an ending" : "the ending ." + ending.toStdString(),
                                QString("a picture (.%1) or a report (.%2)")
                                    .arg(picture_endings().join(", ."), report_endings().join(", ."))
                                    .toStdString(),
                                ""});
}

void MainWindow::export_dialog() {
  const QString picture = tr("Picture of the view (*.%1)").arg(picture_endings().join(" *."));
  const QString report = tr("Report (*.%1)").arg(report_endings().join(" *."));
  QFileDialog* const dialog = file_dialog(this, tr("Export"), picture + ";;" + report);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  // The dialog appends it, so that it asks before it writes over the file of that name.
  const auto follow = [dialog, report](const QString& filter) {
    dialog->setDefaultSuffix(filter == report ? report_endings().back() : picture_endings().front());
  };
  follow(picture);
  connect(dialog, &QFileDialog::filterSelected, this, follow);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
    try {
      export_file(path);
      described_->setText(tr("%1 written").arg(path));
    } catch (const std::exception& error) {
      report_problem(error);
    }
  });
  dialog->open();
}

void MainWindow::bundle_dialog() {
  if (!document_.is_open()) return tell_nothing_to_run();
  QFileDialog* const dialog = file_dialog(this, tr("Folder for the bundle"), {});
  dialog->setFileMode(QFileDialog::Directory);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) { start_run(RunKind::bundle, path); });
  dialog->open();
}

void MainWindow::csv_dialog(bool save) {
  QFileDialog* const dialog =
      file_dialog(this, save ? tr("Save the schedule") : tr("Load a schedule"), tr("PyTorch CSV (*.csv)"));
  if (save) {
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix("csv");
  }
  connect(dialog, &QFileDialog::fileSelected, this, [this, save](const QString& path) {
    if (!save) {
      open_schedule(path);
      return;
    }
    try {
      schedule_->save_csv(path);
      described_->setText(tr("%1 written").arg(path));
    } catch (const std::exception& error) {
      report_problem(error);
    }
  });
  dialog->open();
}

void MainWindow::remember(const QString& path) {
  const QString whole = QFileInfo(path).absoluteFilePath();
  recent_.removeAll(whole);
  recent_.prepend(whole);
  while (recent_.size() > most_recent) recent_.removeLast();
  start_->show_recent(recent_);
}

}  // namespace stagecraft::gui
