#pragma once
// A thread that runs one job after the other.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace stagecraft::gui {

/// Built of the standard library's parts, not of QThreadPool: what those order, the thread sanitizer sees.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();  // waits

  /// Runs `job`, which must not throw, once the one before has ended. The first call starts the thread.
  void start(std::function<void()> job);
  /// Until no job runs and what the last one held is gone.
  void wait();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  bool busy_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace stagecraft::gui
