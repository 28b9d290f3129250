#include "validate/network_constants_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "base/input_error.hpp"
#include "validate/least_squares.hpp"

namespace stagecraft {
namespace {

constexpr double most_open = 3;  // factor up and down of the interval of what counts as determined
constexpr std::size_t fewest_sizes = 4;

struct Unknown {
  const char* name;
  double most;
  bool is_rate;
};

constexpr std::array across{Unknown{"nic_ring_efficiency", 1.25, true}, Unknown{"inter_hop_us", 1e6, false},
                            Unknown{"inter_level_us", 1e6, false}, Unknown{"inter_level_small_us", 1e6, false},
                            Unknown{"inter_small_bus_fraction", 1.25, false}};

void require_sizes(const std::vector<TimedCollective>& times) {
  std::set<double> sizes;
  for (const TimedCollective& time : times) sizes.insert(time.bytes);
  if (sizes.size() >= fewest_sizes) return;
  throw InputError(InputProblem{times.front().source, 0, 0, "",
                                fmt::format("{} sizes of {}", sizes.size(), to_text(times.front().op)),
                                fmt::format("at least {}, from small to large (-b 8 -e 8G -f 2)", fewest_sizes), ""});
}

LogFit fit_names(const std::vector<Unknown>& unknowns, const std::vector<double>& start,
                 const std::vector<TimedCollective>& times, const NetworkPlaces& places, Calibration calibration) {
  std::vector<double> most;
  for (const Unknown& unknown : unknowns) most.push_back(unknown.most);
  return fit_logarithms(start, most, [&](const std::vector<double>& values, std::vector<double>& out) {
    for (std::size_t i = 0; i < unknowns.size(); ++i) calibration.constants.at(unknowns[i].name).value = values[i];
    out.clear();
    for (const TimedCollective& time : times) {
      out.push_back(std::log(predicted_time(time, places, calibration) / time.seconds));
    }
  });
}

/// Where a search may start: beside what is known, since a constant of an algorithm that is not the fastest there, or
/// of a link that does not limit, moves nothing.
struct Start {
  double hop, level, rate;
};

std::vector<Start> starts() {
  std::vector<Start> all;
  for (const double hop : {1.0, 0.25, 4.0}) {
    for (const double level : {1.0, 0.25, 4.0}) {
      for (const double rate : {1.0, 0.6}) all.push_back({hop, level, rate});
    }
  }
  return all;
}

LogFit fit_from_everywhere(const std::vector<Unknown>& unknowns, const std::vector<TimedCollective>& times,
                           const NetworkPlaces& places, const Calibration& calibration) {
  LogFit best;
  for (const Start& at : starts()) {
    std::vector<double> start;
    for (const Unknown& unknown : unknowns) {
      const bool hop = std::string_view(unknown.name) == "inter_hop_us";
      const double scale = unknown.is_rate ? at.rate : hop ? at.hop : at.level;
      start.push_back(std::min(std::max(constant(calibration, unknown.name).value, 1e-3) * scale, unknown.most));
    }
    const LogFit fit = fit_names(unknowns, start, times, places, calibration);
    if (best.values.empty() || fit.loss < best.loss * (1 - 1e-9)) best = fit;
  }
  return best;
}

/// Of a latency that fits best near 0, where it moves nothing: the value up to which the sum of squares does not grow
/// by more than chance would have it. Nothing if the old value is within that.
std::optional<double> upper_bound(const std::vector<Unknown>& unknowns, const LogFit& fit, std::size_t which,
                                  const std::vector<TimedCollective>& times, const NetworkPlaces& places,
                                  Calibration calibration) {
  const double old = constant(calibration, unknowns[which].name).value;
  if (unknowns[which].is_rate || times.size() <= unknowns.size() || fit.values[which] >= old) return std::nullopt;
  const double freedom = static_cast<double>(times.size() - unknowns.size());
  const double t = student_t95(freedom);
  const double most = fit.loss * (1 + t * t / freedom) + 1e-12;
  for (std::size_t i = 0; i < unknowns.size(); ++i) calibration.constants.at(unknowns[i].name).value = fit.values[i];
  const auto is_within = [&](double value) {
    calibration.constants.at(unknowns[which].name).value = value;
    double loss = 0;
    for (const TimedCollective& time : times) {
      const double off = std::log(predicted_time(time, places, calibration) / time.seconds);
      loss += off * off;
    }
    return loss <= most;
  };
  if (is_within(old)) return std::nullopt;
  double low = fit.values[which], high = old;
  for (int i = 0; i < 60; ++i) (is_within((low + high) / 2) ? low : high) = (low + high) / 2;
  return high;
}

double p90_error(const std::vector<TimedCollective>& times, const NetworkPlaces& places,
                 const Calibration& calibration) {
  std::vector<double> errors;
  for (const TimedCollective& time : times)
    errors.push_back(predicted_time(time, places, calibration) / time.seconds - 1);
  return error_statistics(errors)->p90;
}

NetworkConstant constant_of(const Unknown& unknown, double before, double after, const Interval& interval) {
  NetworkConstant out{unknown.name, before, after, interval, true, 0};
  out.relative_error = std::clamp((interval.high - interval.low) / 2 / after, 0.001, 1.0);
  return out;
}

}  // namespace

std::vector<NetworkConstant> fit_across_nodes(const std::vector<TimedCollective>& times, const NetworkPlaces& places,
                                              const Calibration& calibration) {
  require_sizes(times);
  std::vector<Unknown> unknowns(across.begin(), across.end());
  LogFit fit = fit_from_everywhere(unknowns, times, places, calibration);
  std::vector<std::optional<double>> bounds(unknowns.size());
  // What these times leave open goes back to what it was, the worst known first; unless only its upper end is known.
  while (!unknowns.empty()) {
    const auto worst =
        static_cast<std::size_t>(std::max_element(fit.factors.begin(), fit.factors.end()) - fit.factors.begin());
    if (fit.factors[worst] <= most_open) break;
    bounds[worst] = upper_bound(unknowns, fit, worst, times, places, calibration);
    if (bounds[worst]) {
      fit.factors[worst] = 1;
      continue;
    }
    unknowns.erase(unknowns.begin() + static_cast<std::ptrdiff_t>(worst));
    bounds.assign(unknowns.size(), std::nullopt);
    if (!unknowns.empty()) fit = fit_from_everywhere(unknowns, times, places, calibration);
  }
  std::vector<NetworkConstant> found;
  Calibration fitted = calibration;
  for (const Unknown& unknown : across) {
    const double before = constant(calibration, unknown.name).value;
    const auto at = std::find_if(unknowns.begin(), unknowns.end(),
                                 [&](const Unknown& one) { return std::string_view(one.name) == unknown.name; });
    if (at == unknowns.end()) {
      found.push_back({unknown.name, before, before, {}, false, 0});
      continue;
    }
    const auto i = static_cast<std::size_t>(at - unknowns.begin());
    const double value = fit.values[i];
    fitted.constants.at(unknown.name).value = value;
    if (bounds[i]) {
      found.push_back({unknown.name, before, value, {0, *bounds[i]}, true, 1});
      continue;
    }
    found.push_back(constant_of(unknown, before, value, {value / fit.factors[i], value * fit.factors[i]}));
  }
  const double single = p90_error(times, places, fitted);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (across[i].is_rate && found[i].determined)
      found[i].relative_error = std::clamp(single, found[i].relative_error, 1.0);
  }
  return found;
}

std::vector<NetworkConstant> fit_sends(const std::vector<TimedCollective>& times, const NetworkPlaces& places,
                                       const Calibration& calibration) {
  require_sizes(times);
  std::vector<std::vector<double>> rows;
  bool staged = false;
  for (const TimedCollective& time : times) {
    const Route& way = places.ways.at({time.nodes, time.ranks_per_node});
    staged = way.staged_through_host;
    // The way's own latency is known; what is left is the fixed time and the bytes.
    const double left = std::max(time.seconds - way.latency.value, time.seconds * 1e-3);
    rows.push_back({1 / left, time.bytes / way.bottleneck.value / left});
  }
  const std::optional<LinearFit> fit = fit_relative(rows);
  const Unknown rate{staged ? "host_staging_efficiency" : "transfer_efficiency", 1.25, true};
  const Unknown latency{"transfer_latency_us", 1e6, false};
  if (!fit || !(fit->values[1] >= 1 / rate.most)) {
    throw InputError(InputProblem{times.front().source, 0, 0, "",
                                  "sends faster than the wires of the cluster, or that do not grow with the bytes",
                                  "times of this cluster's sends", ""});
  }
  const double before = constant(calibration, rate.name).value, slope = fit->values[1], width = fit->half_widths[1];
  std::vector<NetworkConstant> found{
      constant_of(rate, before, 1 / slope, {1 / (slope + width), 1 / std::max(slope - width, slope / 10)})};
  const double fixed_us = fit->values[0] * 1e6, fixed_width_us = fit->half_widths[0] * 1e6;
  NetworkConstant fixed{latency.name, constant(calibration, latency.name).value,
                        fixed_us,     {std::max(0.0, fixed_us - fixed_width_us), fixed_us + fixed_width_us},
                        true,         1};
  if (fixed_us > 0) fixed.relative_error = std::clamp(fixed_width_us / fixed_us, 0.001, 1.0);
  Calibration fitted = calibration;
  fitted.constants.at(rate.name).value = 1 / slope;
  fitted.constants.at(latency.name).value = fixed_us;
  found.front().relative_error = std::clamp(p90_error(times, places, fitted), found.front().relative_error, 1.0);
  found.push_back(fixed);
  return found;
}

}  // namespace stagecraft
