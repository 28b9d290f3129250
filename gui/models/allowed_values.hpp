#pragma once
// Which values of one field would work now, with everything else as it is: the layout is checked for each of them.

#include <atomic>
#include <string>
#include <vector>

#include "gui/models/form_fields.hpp"
#include "spec/scenario.hpp"

namespace stagecraft::gui {

struct AllowedValues {
  bool judged = false;              // false: the field has too many or no candidates to try
  std::vector<std::string> values;  // at most `most_allowed_values`, ascending; the current one may be missing
};
inline constexpr std::size_t most_allowed_values = 12;

/// Tries at most 64 candidates: of words all, of integers the current value, its neighbours, powers of two, and the
/// divisors of what they have to divide; a millisecond or so each. Never throws.
AllowedValues allowed_values(const std::string& text, const std::string& path, const FormField& field,
                             const std::string& current, const Library& library, const std::atomic<bool>* cancel);

/// The candidates that are tried, ascending.
std::vector<std::int64_t> integer_candidates(const FormField& field, std::int64_t current);

}  // namespace stagecraft::gui
