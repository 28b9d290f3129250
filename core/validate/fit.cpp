#include "validate/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "estimate/estimate.hpp"
#include "validate/predict.hpp"

namespace stagecraft {
namespace {

double seconds(const FitCase& fitted, const Scales& scales, const Wanted& wanted) {
  CostModel costs = *fitted.run.costs;
  each_wanted(costs.calibration, wanted, [&](const std::string&, Constant& constant) {
    const auto found = scales.find(knob_of(constant));
    if (found != scales.end()) constant.value *= found->second;
  });
  const Rehearsed& run = fitted.run;
  costs = make_cost_model(run.plan, run.topology, costs.calibration);
  return estimate(run.plan, run.schedule, fitted.graph, costs, run.topology, steps_until_steady(run.schedule))
      .step_time.value;
}

double distance(double error) {
  return std::abs(std::log1p(error));
}

double loss(const std::vector<const FitCase*>& cases, const Scales& scales, const Wanted& wanted) {
  double sum = 0;
  for (const FitCase* each : cases) sum += distance(error_of(*each, scales, wanted));
  return sum / static_cast<double>(cases.size());
}

/// A number from 0 to n - 1; the next of a fixed sequence.
std::size_t draw(std::uint64_t& state, std::size_t n) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return static_cast<std::size_t>((state >> 33) % n);
}

constexpr double factor_step = 1.02;
constexpr int factors_each_way = 12;

/// Around a fitted constant, up to a quarter more or less.
std::array<double, 2 * factors_each_way + 1> factors_around() {
  std::array<double, 2 * factors_each_way + 1> factors{};
  for (int i = -factors_each_way; i <= factors_each_way; ++i) {
    factors[static_cast<std::size_t>(i + factors_each_way)] = std::pow(factor_step, i);
  }
  return factors;
}

using Factors = std::array<double, 2 * factors_each_way + 1>;

/// The factor with the least sum of the picked records' distances.
double best_factor(const Factors& factors, const std::vector<Factors>& distances,
                   const std::vector<std::size_t>& picked) {
  Factors sums{};
  for (const std::size_t record : picked) {
    for (std::size_t f = 0; f < factors.size(); ++f) sums[f] += distances[record][f];
  }
  return factors[static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin())];
}

/// Per knob of the cases, the least of the scales that its constants may have.
std::map<std::string, double> largest_scales(const std::vector<const FitCase*>& cases, const Wanted& wanted) {
  std::map<std::string, double> largest;
  for (const FitCase* each : cases) {
    Calibration calibration = each->run.costs->calibration;
    each_wanted(calibration, wanted, [&](const std::string& name, const Constant& constant) {
      const auto [at, is_new] = largest.try_emplace(knob_of(constant), furthest_scale);
      at->second = std::min(at->second, largest_scale(name, constant));
    });
  }
  return largest;
}

}  // namespace

void each_wanted(Calibration& calibration, const Wanted& wanted,
                 const std::function<void(const std::string&, Constant&)>& visit) {
  const auto look = [&](const std::string& name, Constant& constant) {
    if (wanted(name, constant)) visit(name, constant);
  };
  for (auto& [dtype, law] : calibration.gemm) {
    const std::string prefix = "gemm/" + to_text(dtype) + "/";
    look(prefix + "ceiling", law.ceiling);
    look(prefix + "k_half", law.k_half);
    look(prefix + "tile_loss", law.tile_loss);
    look(prefix + "quantisation", law.quantisation);
    look(prefix + "misaligned", law.misaligned);
  }
  for (auto& [version, law] : calibration.attention) {
    const std::string prefix = "attention/flash_" + std::to_string(version) + "/";
    look(prefix + "forward", law.forward);
    look(prefix + "backward", law.backward);
  }
  for (auto& [name, value] : calibration.constants) look("constants/" + name, value);
  for (auto& [name, law] : calibration.collectives) {
    look("collectives/" + name + "/latency_us", law.latency_us);
    look("collectives/" + name + "/bus_GBps", law.bus_GBps);
  }
}

std::string knob_of(const Constant& constant) {
  return std::to_string(constant.value) + " " + constant.source;
}

std::optional<FitCase> fit_case(const Record& record, const Library& library, const Wanted& wanted) {
  const Outcome outcome = predict(record, library);
  if (!outcome.step_time) return std::nullopt;
  const Scenario scenario = parse_scenario(outcome.mapping.scenario, record.id, {}, library);
  constexpr std::int64_t most_passes = 1 << 14;
  if (passes_of(scenario) > most_passes) return std::nullopt;
  FitCase fitted;
  fitted.record = &record;
  fitted.run = rehearse(record, scenario, outcome.mapping, library);
  each_wanted(fitted.run.costs->calibration, wanted,
              [&](const std::string&, const Constant& constant) { fitted.knobs.insert(knob_of(constant)); });
  if (fitted.knobs.empty()) return std::nullopt;
  fitted.graph = make_graph(fitted.run.schedule);
  const double before = seconds(fitted, {}, wanted);
  std::erase_if(fitted.knobs, [&](const std::string& knob) {
    return std::abs(seconds(fitted, {{knob, 1.1}}, wanted) - before) <= 1e-6 * before;
  });
  return fitted.knobs.empty() ? std::nullopt : std::optional<FitCase>(std::move(fitted));
}

double error_of(const FitCase& fitted, const Scales& scales, const Wanted& wanted) {
  return seconds(fitted, scales, wanted) / *fitted.record->measured.step_time_s - 1;
}

std::vector<double> errors_of(const std::vector<const FitCase*>& cases, const Scales& scales, const Wanted& wanted) {
  std::vector<double> errors;
  for (const FitCase* each : cases) errors.push_back(error_of(*each, scales, wanted));
  return errors;
}

double largest_scale(const std::string& name, const Constant& constant) {
  const double allowed = constant.value > 0 ? largest_value(name) / constant.value : furthest_scale;
  return std::clamp(allowed, 1 / furthest_scale, furthest_scale);
}

Scales fit(const std::vector<const FitCase*>& cases, const std::set<std::string>& knobs, const Wanted& wanted) {
  Scales scales;
  for (const std::string& knob : knobs) scales[knob] = 1;
  const std::map<std::string, double> largest = largest_scales(cases, wanted);
  for (const double step : {0.08, 0.03, 0.01}) {
    constexpr int most_rounds = 24;
    bool moved = true;
    for (int round = 0; moved && round < most_rounds; ++round) {
      moved = false;
      for (const std::string& knob : knobs) {
        const double centre = scales[knob];
        double best = -1, least = 0;
        for (const int i : {0, -1, 1, -2, 2}) {  // of equally good ones the nearest
          scales[knob] = std::clamp(centre * (1 + i * step), 1 / furthest_scale, largest.at(knob));
          const double here = loss(cases, scales, wanted);
          if (best < 0 || here < least) {
            best = scales[knob];
            least = here;
          }
        }
        scales[knob] = best;
        moved = moved || best != centre;
      }
    }
  }
  return scales;
}

bool is_at_the_edge(double scale, const Interval& interval, double largest) {
  const Factors factors = factors_around();
  return interval.low <= scale * factors.front() || interval.high >= scale * factors.back() ||
         scale <= 1 / furthest_scale || scale >= largest;
}

std::map<std::string, Interval> intervals_of(const std::vector<const FitCase*>& cases, const Scales& scales,
                                             const Wanted& wanted) {
  std::map<std::string, Interval> intervals;
  constexpr std::size_t resamples = 200;
  const Factors factors = factors_around();
  const double half_a_step = std::sqrt(factor_step);  // a factor stands for all that are nearest to it
  for (const auto& [knob, fitted] : scales) {
    std::vector<Factors> distances(cases.size());
    for (std::size_t f = 0; f < factors.size(); ++f) {
      Scales moved = scales;
      moved[knob] = fitted * factors[f];
      const std::vector<double> errors = errors_of(cases, moved, wanted);
      for (std::size_t record = 0; record < cases.size(); ++record) distances[record][f] = distance(errors[record]);
    }
    std::vector<double> best;
    std::uint64_t state = 1;
    for (std::size_t round = 0; round < resamples; ++round) {
      std::vector<std::size_t> picked;
      for (std::size_t i = 0; i < cases.size(); ++i) picked.push_back(draw(state, cases.size()));
      best.push_back(best_factor(factors, distances, picked));
    }
    std::sort(best.begin(), best.end());
    intervals[knob] = {fitted * best[resamples / 20] / half_a_step,
                       fitted * best[resamples - 1 - resamples / 20] * half_a_step};
  }
  return intervals;
}

}  // namespace stagecraft
