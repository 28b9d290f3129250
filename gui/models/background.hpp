#pragma once
// One job at a time on a thread of its own; a newer one cancels and replaces the one before.

#include <QObject>
#include <atomic>
#include <functional>

#include "gui/models/worker.hpp"

class QSocketNotifier;

namespace stagecraft::gui {

class Background : public QObject {
  Q_OBJECT

 public:
  using Work = std::function<void(const std::atomic<bool>& cancel)>;

  explicit Background(QObject* parent = nullptr);
  ~Background() override;  // cancels and waits

  /// `work` runs on the other thread and must not throw; `then` runs on this object's thread afterwards, unless the job
  /// was replaced or cancelled by then. What the two share is touched by no other job: jobs never overlap.
  void run(Work work, std::function<void()> then);
  void cancel();
  /// Cancels, and returns when the work no longer runs.
  void stop();
  bool busy() const { return running_; }

 private:
  struct Job {
    Work work;
    std::function<void()> then;
  };
  void launch(Job job);
  void finished();

  int done_;  // an eventfd(2): the other thread writes it, this one's event loop waits for it
  QSocketNotifier* notifier_;
  std::atomic<bool> cancel_ = false;
  bool running_ = false;
  std::function<void()> then_;
  std::function<void()> next_;  // launches what waits
  Worker worker_;
};

}  // namespace stagecraft::gui
