#pragma once
// The words of stagecraft-exec.

#include <string>
#include <vector>

#include "exec/launch/job.hpp"

namespace CLI {
class App;
}

namespace stagecraft {

/// Adds the options that name a job to a subcommand; they write into `arguments`.
void add_job_options(CLI::App& app, JobArguments& arguments);

/// "raise:RANK:STEP:POSITION", "stall:...", "stop:...", "die:...". Throws InputError.
Drill parse_drill(const std::string& text);

/// "cpu", "cuda", "cuda:1". Throws InputError.
at::Device parse_device(const std::string& text);

}  // namespace stagecraft
