#pragma once
// What the program ends with; docs/exit-codes.md says when.

namespace stagecraft::cli {

enum ExitCode : int {
  ok = 0,
  internal_error = 1,
  usage_error = 2,
  invalid_input = 3,
  does_not_fit = 4,
  outside_tolerance = 5,
  rank_failed = 6,
  timed_out = 7,
  interrupted = 130,
};

}  // namespace stagecraft::cli
