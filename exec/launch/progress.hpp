#pragma once
// How far the steps are, on standard error.

#include <functional>

#include "exec/launch/job.hpp"

namespace stagecraft {

/// To be called after every step: "stagecraft-exec: step 5 of 14, 1.36 steps per second, 7 s left". In place on a
/// terminal, else a line; once a second at most, and nothing for jobs that are done within one.
std::function<void(std::int32_t steps)> progress_of(const JobArguments& arguments);

/// The same line, `seconds` after the first step began.
std::string progress_line(std::int32_t done, std::int32_t total, double seconds);

}  // namespace stagecraft
