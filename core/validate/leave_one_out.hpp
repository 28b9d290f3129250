#pragma once
// What the constants that step times have shaped are worth for a source that had no part in them: they are fitted again
// without it, and its records are predicted with what the others say.

#include <string>
#include <vector>

#include "validate/validate.hpp"

namespace stagecraft {

/// A constant of a profile whose evidence is "fitted", and what the other groups make of it.
struct RefittedConstant {
  std::string name;  // "a100-hgx gemm/bf16/ceiling"
  double shipped = 0, refitted = 0;
};

struct HeldOutGroup {
  std::string name;
  std::size_t records = 0, others = 0;  // its own, and those of other groups that share a fitted constant with it
  double shipped_median = 0, refitted_median = 0;  // of the absolute relative errors of its step times
  double shipped_p90 = 0, refitted_p90 = 0;
  std::vector<RefittedConstant> constants;  // empty: no other group shares one, so nothing can be fitted without it
};

/// One entry per group whose step times move with fitted constants. A fit (validate/fit.hpp) looks at 48 of the others
/// at most, evenly spaced.
std::vector<HeldOutGroup> leave_one_group_out(const std::vector<Record>& records, const Library& library);

}  // namespace stagecraft
