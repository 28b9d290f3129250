#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace stagecraft::cli {

/// Rate and time left on standard error: in place on a terminal, else a line every ten seconds; nothing for work that
/// is done within a second. With `every_second`, a line every second wherever standard error goes, for programs that
/// watch.
class Progress {
 public:
  Progress(std::int64_t total, std::string what, bool every_second = false);
  void advance() { reach(done_ + 1); }
  void reach(std::int64_t done);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void show(Clock::time_point now);

  std::int64_t total_, done_ = 0;
  std::chrono::milliseconds between_;
  std::string what_;
  bool terminal_ = false, shown_ = false;
  Clock::time_point begin_, next_;
};

}  // namespace stagecraft::cli
