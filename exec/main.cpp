// stagecraft-exec: runs a lowered schedule for real. `stagecraft execute` and `stagecraft profile` start it.

#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>

#include "base/input_error.hpp"
#include "exec/launch/command_line.hpp"
#include "exec/launch/outputs.hpp"
#include "exec/launch/run_job.hpp"
#include "exec/profile/profile.hpp"
#include "schedule/executable.hpp"

namespace {

using namespace stagecraft;

/// Freed tensors stay with the process for the next ones. By default large ones come from the kernel page by page each
/// time, which costs up to a tenth of a step on CPU, and not evenly.
void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, 64 << 20);
  ::mallopt(M_ARENA_MAX, 1);
}

int run(const JobArguments& arguments, const std::vector<std::string>& words) {
  const std::unique_ptr<Job> job = load_job(arguments);
  if (has_errors(job->findings)) {
    print_findings(job->findings);
    return 3;
  }
  return run_job(*job, arguments, words);
}

int print_support() {
  for (const SupportLine& line : support_matrix()) fmt::print("{:<88} {}\n", line.feature, line.state);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  CLI::App app{"Runs a lowered schedule for real, on CPU or GPUs, and measures it"};
  app.require_subcommand(1);
  JobArguments arguments;
  arguments.executable = argv[0];
  CLI::App* const run_verb = app.add_subcommand("run", "Train for some steps and write the measured trace");
  add_job_options(*run_verb, arguments);
  ProfileArguments profile_arguments;
  profile_arguments.job.executable = argv[0];
  CLI::App* const profile_verb =
      app.add_subcommand("profile", "Time each kind of operation alone and write a calibration");
  add_profile_options(*profile_verb, profile_arguments);
  CLI::App* const support_verb = app.add_subcommand("support", "What can be executed, and what is refused");
  try {
    app.parse(argc, argv);
    if (run_verb->parsed()) return run(arguments, {argv, argv + argc});
    if (profile_verb->parsed()) return run_profile(profile_arguments, {argv, argv + argc});
    if (support_verb->parsed()) return print_support();
    return 2;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const InputError& error) {
    std::fprintf(stderr, "stagecraft-exec: %s\n", error.what());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stagecraft-exec: internal error: %s\n", error.what());
    return 1;
  }
}
