#pragma once
// Ctrl+C: the program ends with 130 at once, but not while it replaces a file.

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

 private:
  std::timed_mutex writing_;
  std::thread waiter_;
};

}  // namespace stagecraft::cli
