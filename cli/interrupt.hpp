#pragma once
// Ctrl+C: the program ends with 130 at once, but not while it replaces a file.

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace stagecraft::cli {

/// Takes SIGINT and SIGTERM off all threads started later and waits for them on one of its own, unless they are ignored
/// (nohup). Construct first in main.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// While it is held, an interrupt waits, for two seconds at most.
  std::unique_lock<std::timed_mutex> hold_off() { return std::unique_lock(writing_); }

  /// The program that this one waits for ends with it; 0: none.
  void takes_along(pid_t child) { child_ = child; }

 private:
  std::timed_mutex writing_;
  std::atomic<pid_t> child_ = 0;
  std::thread waiter_;
};

}  // namespace stagecraft::cli
