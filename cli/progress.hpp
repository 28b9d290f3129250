#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace stagecraft::cli {

/// Rate and time left on standard error: in place on a terminal, else a line every ten seconds; nothing for work that
/// is done within a second.
class Progress {
 public:
  Progress(std::int64_t total, std::string what);
  void advance();
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void show(Clock::time_point now);

  std::int64_t total_, done_ = 0;
  std::string what_;
  bool terminal_ = false, shown_ = false;
  Clock::time_point begin_, next_;
};

}  // namespace stagecraft::cli
