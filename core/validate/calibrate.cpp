#include "validate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/input_error.hpp"
#include "validate/fit.hpp"
#include "validate/mapping.hpp"
#include "validate/profile_text.hpp"

namespace stagecraft {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& got, const std::string& expected) {
  throw InputError(InputProblem{what, 0, 0, "", got, expected, ""});
}

bool is_of_software(const std::string& name) {
  for (const ConstantMeaning& meaning : constant_meanings()) {
    if (name == std::string("constants/") + meaning.name) return meaning.of_software;
  }
  return false;
}

bool uses(const Record& record, const std::string& calibration) {
  const Mapping mapping = map_record(record);
  if (!mapping.reason.empty()) return false;
  const auto scenario = nlohmann::json::parse(mapping.scenario);
  return scenario.value("calibration", "") == calibration;
}

FittedProfile named(const CalibrateRequest& request) {
  FittedProfile fitted;
  fitted.calibration = request.calibration;
  const std::size_t plus = request.calibration.find('+');
  fitted.hardware = request.calibration.substr(0, plus);
  fitted.software = plus == std::string::npos ? "" : request.calibration.substr(plus + 1);
  return fitted;
}

/// The constants that move together, in the order of their names.
std::vector<FittedConstant> constants_of(const FitCase& first, const Wanted& wanted, const Scales& scales,
                                         const std::map<std::string, Interval>& intervals) {
  std::vector<std::string> knobs;
  std::vector<FittedConstant> constants;
  Calibration calibration = first.run.costs->calibration;
  each_wanted(calibration, wanted, [&](const std::string& name, const Constant& constant) {
    const std::string knob = knob_of(constant);
    if (!scales.contains(knob)) return;  // no step time moves with it
    const auto known = std::find(knobs.begin(), knobs.end(), knob);
    if (known != knobs.end()) {
      constants[static_cast<std::size_t>(known - knobs.begin())].names.push_back(name);
      return;
    }
    knobs.push_back(knob);
    FittedConstant fitted;
    fitted.names = {name};
    fitted.before = constant.value;
    const double scale = scales.at(knob);
    fitted.after = constant.value * scale;
    const Interval interval = intervals.at(knob);
    fitted.interval = {constant.value * interval.low, constant.value * interval.high};
    fitted.at_the_edge = is_at_the_edge(scale, interval, largest_scale(name, constant));
    constants.push_back(std::move(fitted));
  });
  return constants;
}

}  // namespace

FittedProfile calibrate(const std::vector<Record>& records, const CalibrateRequest& request, const Library& library) {
  FittedProfile fitted = named(request);
  const std::set<std::string> names(request.constants.begin(), request.constants.end());
  const Wanted wanted = [&](const std::string& name, const Constant& constant) {
    return names.empty() ? constant.evidence == Evidence::fitted : names.contains(name);
  };
  std::vector<FitCase> cases;
  for (const Record& record : records) {
    if (!request.group.empty() && record.group != request.group) continue;
    if (!uses(record, request.calibration)) continue;
    std::optional<FitCase> one = fit_case(record, library, wanted);
    if (one) {
      cases.push_back(std::move(*one));
    } else {
      fitted.left_out.push_back(record.id);
    }
  }
  if (cases.empty()) refuse("records", "none", fmt::format("a step time that rests on {}", request.calibration));
  std::set<std::string> knobs;
  std::vector<const FitCase*> all;
  for (const FitCase& one : cases) {
    all.push_back(&one);
    knobs.insert(one.knobs.begin(), one.knobs.end());
  }
  if (10 * knobs.size() > cases.size()) {
    refuse("constants", std::to_string(knobs.size()),
           fmt::format("at most a tenth of the {} step times", cases.size()));
  }
  const Scales scales = fit(all, knobs, wanted);
  fitted.constants = constants_of(cases.front(), wanted, scales, intervals_of(all, scales, wanted));
  const auto of_software = [](const FittedConstant& constant) { return is_of_software(constant.names.front()); };
  fitted.of_software = of_software(fitted.constants.front());
  for (const FittedConstant& constant : fitted.constants) {
    if (of_software(constant) != fitted.of_software) {
      refuse("constants", constant.names.front(), "constants of one profile: the hardware's or the software's");
    }
  }
  const std::vector<double> before = errors_of(all, {}, wanted), after = errors_of(all, scales, wanted);
  fitted.before = *error_statistics(before);
  fitted.after = *error_statistics(after);
  for (std::size_t i = 0; i < all.size(); ++i) fitted.residuals.push_back({all[i]->record->id, before[i], after[i]});
  return fitted;
}

std::string profile_json(const FittedProfile& fitted) {
  const std::string times = fmt::format("fitted to {} step times", fitted.residuals.size());
  ProfileDraft draft;
  draft.of_software = fitted.of_software;
  draft.extends = fitted.of_software ? fitted.software : fitted.hardware;
  draft.description = fitted.calibration + ", " + times;
  for (const FittedConstant& constant : fitted.constants) {
    const double half = (constant.interval.high - constant.interval.low) / 2;
    const double error = constant.after > 0 ? std::min(1.0, half / constant.after) : 0;
    for (const std::string& name : constant.names) {
      draft.constants.emplace_back(
          name, Constant{constant.after, error, Evidence::fitted, times + " by stagecraft calibrate"});
    }
  }
  return to_json(draft);
}

}  // namespace stagecraft
