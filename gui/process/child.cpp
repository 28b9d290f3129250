#include "gui/process/child.hpp"

#include <QCoreApplication>
#include <QTimer>
#include <csignal>
#include <utility>

namespace stagecraft::gui {
namespace {

constexpr int patience_ms = 2000, long_patience_ms = 5000;
constexpr qsizetype most_error_bytes = 64 * 1024;

/// The process lives on by itself until it has ended, at most as long as the program.
void let_go(QProcess* process) {
  process->disconnect();
  process->setParent(QCoreApplication::instance());
  QObject::connect(process, &QProcess::finished, process, &QObject::deleteLater);
  QObject::connect(process, &QProcess::errorOccurred, process, &QObject::deleteLater);
  process->closeReadChannel(QProcess::StandardOutput);
  process->closeReadChannel(QProcess::StandardError);
  process->terminate();
  QTimer::singleShot(patience_ms, process, &QProcess::kill);
}

}  // namespace

ChildRun::ChildRun(QObject* parent) : QObject(parent) {}

ChildRun::~ChildRun() {
  if (process_ == nullptr) return;
  process_->disconnect();
  process_->terminate();
  if (!process_->waitForFinished(patience_ms)) {
    process_->kill();
    process_->waitForFinished(patience_ms);
  }
  delete process_;
}

void ChildRun::start(const QString& program, const QStringList& arguments) {
  cancel();
  errors_.clear();
  process_ = new QProcess;
  process_->setStandardInputFile(QProcess::nullDevice());
  connect(process_, &QProcess::readyReadStandardOutput, this, &ChildRun::read_output);
  connect(process_, &QProcess::readyReadStandardError, this, &ChildRun::read_errors);
  connect(process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    read_output();
    read_errors();
    std::exchange(process_, nullptr)->deleteLater();
    Q_EMIT ended(status == QProcess::NormalExit ? code : 128 + code);
  });
  connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    errors_ = process_->errorString().toUtf8();
    std::exchange(process_, nullptr)->deleteLater();
    Q_EMIT ended(-1);
  });
  process_->start(program, arguments);
}

void ChildRun::cancel() {
  if (process_ != nullptr) let_go(std::exchange(process_, nullptr));
}

void ChildRun::interrupt() {
  if (process_ == nullptr || process_->processId() <= 0) return;
  ::kill(static_cast<pid_t>(process_->processId()), SIGINT);
  QTimer::singleShot(long_patience_ms, process_, &QProcess::kill);
}

void ChildRun::read_output() {
  const QByteArray text = process_->readAllStandardOutput();
  if (!text.isEmpty()) Q_EMIT wrote(QString::fromUtf8(text));
}

void ChildRun::read_errors() {
  const QByteArray text = process_->readAllStandardError();
  if (text.isEmpty()) return;
  errors_ = (errors_ + text).right(most_error_bytes);
  Q_EMIT wrote(QString::fromUtf8(text));
}

}  // namespace stagecraft::gui
