#include "gui/process/program.hpp"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include "spec/scenario.hpp"

namespace stagecraft::gui {
namespace {

bool runnable(const QString& path) {
  const QFileInfo file(path);
  return file.isFile() && file.isExecutable();
}

}  // namespace

QString find_stagecraft() {
  const QString named = qEnvironmentVariable("STAGECRAFT_PROGRAM");
  if (!named.isEmpty()) return runnable(named) ? named : QString();
  const QString beside = QDir(QCoreApplication::applicationDirPath()).filePath("stagecraft");
  return runnable(beside) ? beside : QStandardPaths::findExecutable("stagecraft");
}

QString stagecraft_missing() {
  return QCoreApplication::translate(
      "Program",
      "The command-line program stagecraft is neither beside stagecraft-gui nor on the PATH. Closed-form figures work "
      "without it; to simulate or execute, install it or set STAGECRAFT_PROGRAM to its path.");
}

QString scenario_folder() {
  for (const std::string& folder : default_library(QCoreApplication::applicationFilePath().toStdString()).directories) {
    const QString path = QString::fromStdString(folder);
    if (QDir(path).exists("lessons")) return path;
  }
  return {};
}

}  // namespace stagecraft::gui
