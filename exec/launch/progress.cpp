#include "exec/launch/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "exec/transport/transport.hpp"

namespace stagecraft {

namespace {

constexpr double least_between_s = 1;

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

std::string progress_line(std::int32_t done, std::int32_t total, double seconds) {
  const double each_s = seconds / done;
  const std::string rate =
      each_s > 1 ? fmt::format("{:.3g} s per step", each_s) : fmt::format("{:.3g} steps per second", 1 / each_s);
  return fmt::format("stagecraft-exec: step {} of {}, {}, {} left", done, total, rate,
                     clock_text(each_s * (total - done)));
}

std::function<void(std::int32_t steps)> progress_of(const JobArguments& arguments) {
  const std::int32_t total = arguments.options.warmup + arguments.options.steps;
  const bool terminal = arguments.on_terminal || ::isatty(STDERR_FILENO) == 1;
  const double begin_s = now_s();
  return [=, shown_s = begin_s, shown = false](std::int32_t steps) mutable {
    const double time_s = now_s();
    const bool last = steps == total && shown;
    if (time_s - shown_s < least_between_s && !last) return;
    shown_s = time_s;
    shown = true;
    const std::string line = progress_line(steps, total, time_s - begin_s);
    std::fputs(terminal ? ("\r\x1b[K" + line + (last ? "\n" : "")).c_str() : (line + "\n").c_str(), stderr);
    std::fflush(stderr);
  };
}

}  // namespace stagecraft
