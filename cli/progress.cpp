#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace stagecraft::cli {
namespace {

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

Progress::Progress(std::int64_t total, std::string what, bool every_second)
    : total_(total),
      what_(std::move(what)),
      terminal_(!every_second && ::isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()) {
  between_ = std::chrono::milliseconds(terminal_ ? 500 : every_second ? 1000 : 10'000);
  next_ = begin_ + (terminal_ ? std::chrono::milliseconds(1000) : between_);
}

void Progress::reach(std::int64_t done) {
  done_ = done;
  const auto now = Clock::now();
  if (now < next_) return;
  show(now);
  next_ = now + between_;
}

void Progress::finish() {
  if (!shown_) return;
  show(Clock::now());
  if (terminal_) std::fputs("\n", stderr);
}

void Progress::show(Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : 0;
  const std::string line =
      fmt::format("stagecraft: {} of {} {}, {:.3g} per second, {} left", done_, total_, what_, rate, clock_text(left));
  std::fputs(terminal_ ? ("\r\x1b[K" + line).c_str() : (line + "\n").c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace stagecraft::cli
