#include "validate/leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "estimate/estimate.hpp"
#include "schedule/graph.hpp"
#include "validate/predict.hpp"
#include "validate/rehearsed.hpp"

namespace stagecraft {
namespace {

/// A record ready to be timed again and again.
struct Timed {
  const Record* record = nullptr;
  Rehearsed run;
  Graph graph;
  std::vector<std::string> knobs;
};

using Scales = std::map<std::string, double>;  // factor per knob; 1 where absent

/// Calls `visit(name, constant)` for every fitted constant. One that stands for several dtypes or a pair of
/// profiles is one knob: it has one source.
template <class Visit>
void each_fitted(Calibration& calibration, Visit&& visit) {
  const auto look = [&](const std::string& name, Constant& constant) {
    if (constant.evidence == Evidence::fitted) visit(name, constant);
  };
  for (auto& [dtype, law] : calibration.gemm) {
    const std::string prefix = "gemm/" + to_text(dtype) + "/";
    look(prefix + "ceiling", law.ceiling);
    look(prefix + "k_half", law.k_half);
    look(prefix + "tile_loss", law.tile_loss);
    look(prefix + "quantisation", law.quantisation);
    look(prefix + "misaligned", law.misaligned);
  }
  for (auto& [name, constant] : calibration.constants) look(name, constant);
  for (auto& [name, law] : calibration.collectives) {
    look("collectives/" + name + "/latency_us", law.latency_us);
    look("collectives/" + name + "/bus_GBps", law.bus_GBps);
  }
}

std::string knob_of(const Constant& constant) {
  return std::to_string(constant.value) + " " + constant.source;
}

double seconds(const Timed& timed, const Scales& scales) {
  CostModel costs = *timed.run.costs;
  each_fitted(costs.calibration, [&](const std::string&, Constant& constant) {
    const auto found = scales.find(knob_of(constant));
    if (found != scales.end()) constant.value *= found->second;
  });
  costs.law = kernel_law(costs.gpu, costs.calibration);
  const std::int32_t steps = steps_until_steady(timed.run.schedule);
  return estimate(timed.run.plan, timed.run.schedule, timed.graph, costs, timed.run.topology, steps).step_time.value;
}

double error_of(const Timed& timed, const Scales& scales) {
  return seconds(timed, scales) / *timed.record->measured.step_time_s - 1;
}

double loss(const std::vector<const Timed*>& cases, const Scales& scales) {
  double sum = 0;
  for (const Timed* timed : cases) sum += std::abs(std::log1p(error_of(*timed, scales)));
  return sum / static_cast<double>(cases.size());
}

Scales fit(const std::vector<const Timed*>& cases, const std::set<std::string>& knobs) {
  Scales scales;
  for (const std::string& knob : knobs) scales[knob] = 1;
  for (const double step : {0.08, 0.03}) {
    for (const std::string& knob : knobs) {
      const double centre = scales[knob];
      double best = -1, least = 0;
      for (int i = -2; i <= 2; ++i) {
        scales[knob] = centre * (1 + i * step);
        const double here = loss(cases, scales);
        if (best < 0 || here < least) {
          best = scales[knob];
          least = here;
        }
      }
      scales[knob] = best;
    }
  }
  return scales;
}

/// The record, if its step time is compared and rests on fitted constants.
std::optional<Timed> timed_of(const Record& record, const Library& library) {
  const Outcome outcome = predict(record, library);
  if (!outcome.step_time) return std::nullopt;
  Timed timed;
  timed.record = &record;
  const Scenario scenario = parse_scenario(outcome.mapping.scenario, record.id, {}, library);
  constexpr std::int64_t most_passes = 1 << 14;  // larger ones would take most of the time and say no more
  if (passes_of(scenario) > most_passes) return std::nullopt;
  timed.run = rehearse(record, scenario, outcome.mapping, library);
  each_fitted(timed.run.costs->calibration,
              [&](const std::string&, const Constant& constant) { timed.knobs.push_back(knob_of(constant)); });
  if (timed.knobs.empty()) return std::nullopt;
  timed.graph = make_graph(timed.run.schedule);
  return timed;
}

std::vector<double> errors_of(const std::vector<const Timed*>& cases, const Scales& scales) {
  std::vector<double> errors;
  for (const Timed* timed : cases) errors.push_back(error_of(*timed, scales));
  return errors;
}

HeldOutGroup hold_out(const std::string& name, const std::vector<Timed>& all) {
  HeldOutGroup group;
  group.name = name;
  std::vector<const Timed*> own, others;
  std::set<std::string> wanted, shared;
  for (const Timed& timed : all) {
    if (timed.record->group != name) continue;
    own.push_back(&timed);
    wanted.insert(timed.knobs.begin(), timed.knobs.end());
  }
  for (const Timed& timed : all) {
    if (timed.record->group == name) continue;
    const auto is_wanted = [&](const std::string& knob) { return wanted.contains(knob); };
    if (std::none_of(timed.knobs.begin(), timed.knobs.end(), is_wanted)) continue;
    others.push_back(&timed);
    std::copy_if(timed.knobs.begin(), timed.knobs.end(), std::inserter(shared, shared.end()), is_wanted);
  }
  group.records = own.size();
  group.others = others.size();
  const Scales scales = others.empty() ? Scales{} : fit(others, shared);
  const auto shipped = error_statistics(errors_of(own, {})), refitted = error_statistics(errors_of(own, scales));
  group.shipped_median = shipped->median;
  group.shipped_p90 = shipped->p90;
  group.refitted_median = refitted->median;
  group.refitted_p90 = refitted->p90;
  std::set<std::string> told;
  for (const Timed* timed : own) {
    Calibration calibration = timed->run.costs->calibration;
    each_fitted(calibration, [&](const std::string& constant_name, const Constant& constant) {
      const auto found = scales.find(knob_of(constant));
      if (found == scales.end() || !told.insert(found->first).second) return;
      group.constants.push_back(
          {calibration.name + " " + constant_name, constant.value, constant.value * found->second});
    });
  }
  return group;
}

}  // namespace

std::vector<HeldOutGroup> leave_one_group_out(const std::vector<Record>& records, const Library& library) {
  std::vector<Timed> all;
  std::vector<std::string> names;
  for (const Record& record : records) {
    std::optional<Timed> timed = timed_of(record, library);
    if (!timed) continue;
    all.push_back(std::move(*timed));
    if (std::find(names.begin(), names.end(), record.group) == names.end()) names.push_back(record.group);
  }
  std::vector<HeldOutGroup> groups;
  for (const std::string& name : names) groups.push_back(hold_out(name, all));
  return groups;
}

}  // namespace stagecraft
