#pragma once
// The tables of a validation as rows of cells, for the text and the Markdown form.

#include <string>
#include <vector>

#include "validate/leave_one_out.hpp"
#include "validate/validate.hpp"

namespace stagecraft {

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

Table step_time_table(const Validation& validation);  // groups with step times
Table memory_table(const Validation& validation);
Table oom_table(const Validation& validation);
Table bubble_table(const Validation& validation);
Table ranking_table(const Validation& validation);  // sets of `ranked_from` records or more

Table held_out_table(const std::vector<HeldOutGroup>& groups);

/// A reason or an inferred value, and the records that share it.
struct Shared {
  std::string what;
  std::vector<std::string> ids;
};
std::vector<Shared> left_out(const Validation& validation);
std::vector<Shared> inferred_inputs(const Validation& validation);

/// The first few of many: "a, b, c and 12 more".
std::string some_of(const std::vector<std::string>& ids, std::size_t most);

}  // namespace stagecraft
