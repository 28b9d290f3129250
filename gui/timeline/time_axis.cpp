#include "gui/timeline/time_axis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace stagecraft::gui {
namespace {

constexpr double finest_s_per_pixel = 1e-9, outer_margin = 0.02;

struct Unit {
  double seconds;
  const char* name;
};
constexpr Unit second{1, "s"}, milli{1e-3, "ms"}, micro{1e-6, "us"}, nano{1e-9, "ns"};

/// The unit in which `seconds` is at least one.
Unit unit_of(double seconds) {
  const double size = std::abs(seconds) * (1 + 1e-9);
  return size >= 1 || size == 0 ? second : size >= 1e-3 ? milli : size >= 1e-6 ? micro : nano;
}

/// 1, 2 or 5 times a power of ten, at least `rough`.
double round_up(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/// The unit of the distance, or a larger one where times are far from 0 and would have more than five digits.
Unit unit_for(double step_s, double furthest_s) {
  constexpr std::array units = {nano, micro, milli, second};
  const Unit finest = unit_of(step_s);
  for (const Unit unit : units) {
    if (unit.seconds >= finest.seconds && furthest_s / unit.seconds < 1e5) return unit;
  }
  return second;
}

std::string in_unit(double seconds, Unit unit, double resolution_s) {
  const double value = seconds / unit.seconds;
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(resolution_s / unit.seconds) - 1e-9)), 0, 9);
  return fmt::format("{:.{}f} {}", value == 0 ? 0.0 : value, digits, unit.name);
}

}  // namespace

TimeAxis clamped(TimeAxis axis, TimeLimits limits) {
  const double whole = std::max(limits.end_s - limits.begin_s, finest_s_per_pixel);
  const double first = limits.begin_s - outer_margin * whole, last = limits.end_s + outer_margin * whole;
  const double shortest = std::min(finest_s_per_pixel * axis.width, last - first);
  double length = std::clamp(axis.end_s - axis.begin_s, shortest, last - first);
  const double middle = (axis.begin_s + axis.end_s) / 2;
  if (length != axis.end_s - axis.begin_s) axis.begin_s = middle - length / 2;
  axis.begin_s = std::clamp(axis.begin_s, first, last - length);
  axis.end_s = axis.begin_s + length;
  if (!(axis.end_s > axis.begin_s)) {  // so far from 0 that nothing so short can be told apart
    axis.end_s = axis.begin_s + std::max(std::abs(axis.begin_s) * 1e-9, finest_s_per_pixel);
  }
  return axis;
}

TimeAxis zoomed(const TimeAxis& axis, double factor, double anchor, TimeLimits limits) {
  const double whole = std::max(limits.end_s - limits.begin_s, finest_s_per_pixel) * (1 + 2 * outer_margin);
  const double shortest = std::min(finest_s_per_pixel * axis.width, whole);
  const double length = std::clamp((axis.end_s - axis.begin_s) * factor, shortest, whole);
  const double begin = axis.time_at(anchor) - length * anchor / axis.width;
  return clamped({begin, begin + length, axis.width}, limits);
}

TimeAxis panned(const TimeAxis& axis, double pixels, TimeLimits limits) {
  const double shift = pixels * axis.seconds_per_pixel();
  return clamped({axis.begin_s + shift, axis.end_s + shift, axis.width}, limits);
}

TimeAxis fitted(const TimeAxis& axis, double begin_s, double end_s, TimeLimits limits, double margin) {
  const double length = std::max(end_s - begin_s, finest_s_per_pixel * axis.width);
  return clamped({begin_s - margin * length, begin_s + length * (1 + margin), axis.width}, limits);
}

std::vector<double> tick_times(const TimeAxis& axis, double least_pixels) {
  const double step = round_up(least_pixels * axis.seconds_per_pixel());
  std::vector<double> times;
  const double first = std::ceil(axis.begin_s / step - 1e-6);
  for (double i = first; i * step <= axis.end_s && times.size() < 1000; ++i) times.push_back(i * step);
  return times;
}

std::vector<Tick> ticks(const TimeAxis& axis, double least_pixels) {
  const double step = round_up(least_pixels * axis.seconds_per_pixel());
  const Unit unit = unit_for(step, std::max(std::abs(axis.begin_s), std::abs(axis.end_s)));
  std::vector<Tick> result;
  for (const double time : tick_times(axis, least_pixels)) result.push_back({time, in_unit(time, unit, step)});
  return result;
}

std::string time_text(double seconds, double resolution_s) {
  return in_unit(seconds, unit_of(seconds), std::max(resolution_s, 1e-12));
}

std::string duration_text(double seconds) {
  if (seconds == 0) return "0 s";
  const Unit unit = unit_of(seconds);
  return fmt::format("{:.4g} {}", seconds / unit.seconds, unit.name);
}

}  // namespace stagecraft::gui
