#pragma once
// A child process with its output as text, its exit code, and a way to stop it.

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>

namespace stagecraft::gui {

class ChildRun : public QObject {
  Q_OBJECT

 public:
  explicit ChildRun(QObject* parent = nullptr);
  ~ChildRun() override;  // ends a running one

  /// Cancels a running one first.
  void start(const QString& program, const QStringList& arguments);
  /// Asks it to end, and ends it after two seconds; ended() does not follow.
  void cancel();
  /// Ctrl+C: it ends by itself, or is ended after five seconds, and ended() follows.
  void interrupt();
  bool running() const { return process_ != nullptr; }
  /// What it wrote to standard error, at most the last 64 KiB.
  QString errors() const { return QString::fromUtf8(errors_); }

 Q_SIGNALS:
  void wrote(const QString& text);  // to standard output or standard error, as it comes
  void ended(int exit_code);        // 128 + signal if it was killed, -1 if it could not be started

 private:
  void read_output();
  void read_errors();

  QProcess* process_ = nullptr;  // its own parent until it has ended
  QByteArray errors_;
};

}  // namespace stagecraft::gui
