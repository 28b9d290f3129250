#include "gui/models/allowed_values.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/input_error.hpp"
#include "plan/feasibility.hpp"

namespace stagecraft::gui {
namespace {

bool works(const std::string& text, const std::string& path, const std::string& field, const std::string& value,
           const Library& library) {
  try {
    return !has_errors(check_feasible(parse_scenario(text, path, {field.substr(1) + "=" + value}, library)));
  } catch (const std::exception&) {
    return false;
  }
}

/// --set takes dotted keys or a pointer.
std::string set_path(const std::string& pointer) {
  std::string path = pointer == "/schedule/name" ? "/schedule" : pointer;
  if (path.ends_with("/extends")) path.resize(path.size() - 8);
  std::replace(path.begin() + 1, path.end(), '/', '.');
  return path;
}

}  // namespace

std::vector<std::int64_t> integer_candidates(const FormField& field, std::int64_t current) {
  std::set<std::int64_t> candidates;
  const auto add = [&](std::int64_t value) {
    const auto number = static_cast<double>(value);
    if (number >= field.minimum && number <= field.maximum) candidates.insert(value);
  };
  for (std::int64_t value = current - 2; value <= current + 2; ++value) add(value);
  const std::int64_t reach = std::clamp<std::int64_t>(current, 8, std::int64_t{1} << 40) * 8;
  for (std::int64_t power = 1; power <= reach; power *= 2) {
    add(power);
    if (power <= 4096) add(power * 3);
  }
  for (std::int64_t divisor = 1; divisor <= std::min<std::int64_t>(current, 4096); ++divisor)
    if (current % divisor == 0) add(divisor);
  for (std::int64_t small = 1; small <= 16; ++small) add(small);
  for (std::int64_t factor = 2; factor <= 4; ++factor) add(current * factor);
  constexpr std::size_t most = 64;
  while (candidates.size() > most) candidates.erase(std::prev(candidates.end()));
  return {candidates.begin(), candidates.end()};
}

AllowedValues allowed_values(const std::string& text, const std::string& path, const FormField& field,
                             const std::string& current, const Library& library, const std::atomic<bool>* cancel) {
  std::vector<std::string> candidates = field.choices;
  if (field.kind == FieldKind::boolean) candidates = {"false", "true"};
  if (field.kind == FieldKind::integer) {
    char* end = nullptr;
    const std::int64_t value = std::strtoll(current.c_str(), &end, 10);
    for (const std::int64_t one : integer_candidates(field, end == current.c_str() ? 1 : value))
      candidates.push_back(std::to_string(one));
  }
  constexpr std::size_t most_tried = 64;
  if (candidates.empty() || candidates.size() > most_tried || field.kind == FieldKind::name) return {};
  AllowedValues allowed{true, {}};
  for (const std::string& candidate : candidates) {
    if (cancel != nullptr && *cancel) return {};
    if (works(text, path, set_path(field.pointer), candidate, library)) allowed.values.push_back(candidate);
  }
  if (allowed.values.size() > most_allowed_values && field.kind == FieldKind::integer) {
    // The ones nearest to the current value tell most.
    const std::int64_t around = std::strtoll(current.c_str(), nullptr, 10);
    std::stable_sort(allowed.values.begin(), allowed.values.end(), [&](const std::string& a, const std::string& b) {
      return std::llabs(std::stoll(a) - around) < std::llabs(std::stoll(b) - around);
    });
    allowed.values.resize(most_allowed_values);
    std::sort(allowed.values.begin(), allowed.values.end(),
              [](const std::string& a, const std::string& b) { return std::stoll(a) < std::stoll(b); });
  }
  return allowed;
}

}  // namespace stagecraft::gui
