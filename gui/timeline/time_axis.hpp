#pragma once
// Time <-> pixel. One struct for every view that shares an axis.

#include <cstdint>
#include <string>
#include <vector>

namespace stagecraft::gui {

/// [begin_s, end_s) is drawn over `width` pixels. Precondition: end_s > begin_s, width > 0.
struct TimeAxis {
  double begin_s = 0, end_s = 1;
  double width = 1;

  double seconds_per_pixel() const { return (end_s - begin_s) / width; }
  double x_of(double time_s) const { return (time_s - begin_s) / (end_s - begin_s) * width; }
  double time_at(double x) const { return begin_s + x * seconds_per_pixel(); }
};

/// What may be shown: never narrower than one nanosecond a pixel, never wider than `limits` with a margin of 2 %.
struct TimeLimits {
  double begin_s = 0, end_s = 1;
};
TimeAxis clamped(TimeAxis axis, TimeLimits limits);

/// The time under pixel `anchor` stays where it is; factor < 1 zooms in.
TimeAxis zoomed(const TimeAxis& axis, double factor, double anchor, TimeLimits limits);
TimeAxis panned(const TimeAxis& axis, double pixels, TimeLimits limits);
/// [begin_s, end_s) with a margin of `margin` of its length on either side.
TimeAxis fitted(const TimeAxis& axis, double begin_s, double end_s, TimeLimits limits, double margin = 0.05);

/// Round times at least `least_pixels` apart.
std::vector<double> tick_times(const TimeAxis& axis, double least_pixels);

/// The same, each with its label; the unit follows the distance ("12.4 ms").
struct Tick {
  double time_s = 0;
  std::string label;
};
std::vector<Tick> ticks(const TimeAxis& axis, double least_pixels);

/// A duration or a time with as many digits as `resolution_s` needs: "1.204 s", "12.40 ms", "803 ns".
std::string time_text(double seconds, double resolution_s);
/// A duration with four significant digits.
std::string duration_text(double seconds);

}  // namespace stagecraft::gui
