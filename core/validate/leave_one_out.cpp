#include "validate/leave_one_out.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "validate/fit.hpp"

namespace stagecraft {
namespace {

bool is_fitted(const std::string&, const Constant& constant) {
  return constant.evidence == Evidence::fitted;
}

/// At most `most` of them, evenly spaced: enough for a constant or four, and minutes instead of hours.
std::vector<const FitCase*> thinned(const std::vector<const FitCase*>& cases, std::size_t most) {
  if (cases.size() <= most) return cases;
  std::vector<const FitCase*> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(cases[i * cases.size() / most]);
  return some;
}

HeldOutGroup hold_out(const std::string& name, const std::vector<FitCase>& all) {
  HeldOutGroup group;
  group.name = name;
  std::vector<const FitCase*> own, others;
  std::set<std::string> wanted, shared;
  for (const FitCase& each : all) {
    if (each.record->group != name) continue;
    own.push_back(&each);
    wanted.insert(each.knobs.begin(), each.knobs.end());
  }
  for (const FitCase& each : all) {
    if (each.record->group == name) continue;
    const auto is_wanted = [&](const std::string& knob) { return wanted.contains(knob); };
    if (std::none_of(each.knobs.begin(), each.knobs.end(), is_wanted)) continue;
    others.push_back(&each);
    std::copy_if(each.knobs.begin(), each.knobs.end(), std::inserter(shared, shared.end()), is_wanted);
  }
  group.records = own.size();
  group.others = others.size();
  const Scales scales = others.empty() ? Scales{} : fit(thinned(others, 48), shared, is_fitted);
  const auto shipped = error_statistics(errors_of(own, {}, is_fitted));
  const auto refitted = error_statistics(errors_of(own, scales, is_fitted));
  group.shipped_median = shipped->median;
  group.shipped_p90 = shipped->p90;
  group.refitted_median = refitted->median;
  group.refitted_p90 = refitted->p90;
  std::set<std::string> told;
  for (const FitCase* each : own) {
    Calibration calibration = each->run.costs->calibration;
    each_wanted(calibration, is_fitted, [&](const std::string& constant_name, const Constant& constant) {
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
  std::vector<FitCase> all;
  std::vector<std::string> names;
  for (const Record& record : records) {
    std::optional<FitCase> fitted = fit_case(record, library, is_fitted);
    if (!fitted) continue;
    all.push_back(std::move(*fitted));
    if (std::find(names.begin(), names.end(), record.group) == names.end()) names.push_back(record.group);
  }
  std::vector<HeldOutGroup> groups;
  for (const std::string& name : names) groups.push_back(hold_out(name, all));
  return groups;
}

}  // namespace stagecraft
