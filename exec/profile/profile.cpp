#include "exec/profile/profile.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <thread>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "exec/launch/command_line.hpp"
#include "exec/launch/environment.hpp"
#include "exec/launch/outputs.hpp"
#include "exec/launch/preflight.hpp"
#include "exec/launch/run_rank.hpp"
#include "exec/launch/under_mpirun.hpp"
#include "exec/profile/profiler.hpp"
#include "exec/profile/write_calibration.hpp"
#include "exec/transport/in_process.hpp"

namespace stagecraft {

namespace {

#ifdef STAGECRAFT_HAVE_MPI
constexpr bool have_mpi = true;
#else
constexpr bool have_mpi = false;
#endif

std::string machine_name(at::Device device) {
  if (!device.is_cpu()) {
    const std::vector<DeviceFacts> devices = cuda_devices();
    const auto index = static_cast<std::size_t>(std::max<at::DeviceIndex>(device.index(), 0));
    return index < devices.size() ? devices[index].name : "a GPU";
  }
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "this CPU";
}

int profile_in_process(const Job& job, const ProfileArguments& arguments) {
  const std::int32_t ranks = profile_ranks(job);
  InProcessJob shared(ranks, {arguments.job.timeout_s, true});
  std::vector<Profile> profiles(static_cast<std::size_t>(ranks));
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      try {
        profiles[at] = profile_rank(job, arguments, shared.transport(rank));
      } catch (const std::exception& error) {
        errors[at] = std::current_exception();
        shared.transport(rank).abort(error.what(), StopCause::failed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  write_profile(job, arguments, profiles.front());
  return 0;
}

}  // namespace

std::int32_t profile_ranks(const Job& job) {
  const Degrees& degrees = job.plan.degrees;
  return world_size(degrees) > 1 ? std::max(degrees.tensor, 2) : 1;
}

Profile profile_rank(const Job& job, const ProfileArguments& arguments, Transport& transport) {
  at::set_num_threads(1);
  if (arguments.job.pin) pin_to_core(transport.rank());
  const c10::InferenceMode no_graph;
  Profiler profiler(job, arguments.job.options, transport);
  for (std::int32_t i = -2; i < arguments.repetitions; ++i) profiler.repeat();  // the first two warm up
  return profiler.result();
}

void save_profile(const Job& job, at::Device device, const std::string& path, const Profile& profile) {
  write_file_whole(path, calibration_text(profile, job.scenario, machine_name(device)));
}

void write_profile(const Job& job, const ProfileArguments& arguments, const Profile& profile) {
  save_profile(job, arguments.job.options.device, arguments.output, profile);
  fmt::print("{}: {} segments and {} transfers of {} measured\n", arguments.output, profile.segments.size(),
             profile.transfers.size(), job.scenario.name);
  std::fflush(stdout);
}

void add_profile_options(CLI::App& app, ProfileArguments& arguments) {
  JobArguments& job = arguments.job;
  app.add_option("--scenario", job.scenario, "Scenario file")->required();
  app.add_option("--set", job.overrides, "PATH=VALUE, overrides a field of the scenario")->allow_extra_args(false);
  app.add_option("--schedule", job.schedule, "Lowered schedule, as `stagecraft profile` writes it")->required();
  app.add_option("--output", arguments.output, "The calibration file to write")->required();
  app.add_option("--repetitions", arguments.repetitions, "Of each measurement")->check(CLI::Range(1, 1000));
  app.add_option_function<std::string>(
      "--device", [&job](const std::string& text) { job.options.device = parse_device(text); }, "cpu, cuda or cuda:N");
  app.add_flag("--in-process", job.in_process, "Ranks as threads of one process");
  app.add_flag("--pin", job.pin, "Pin every rank to a core of its own");
}

int run_profile(const ProfileArguments& arguments, const std::vector<std::string>& words) {
  const std::unique_ptr<Job> job = load_job(arguments.job);
  if (has_errors(job->findings)) {
    print_findings(job->findings);
    return 3;
  }
  const bool processes = arguments.job.options.device.is_cpu() && !arguments.job.in_process && profile_ranks(*job) > 1;
  if (!processes) return profile_in_process(*job, arguments);
#ifdef STAGECRAFT_HAVE_MPI
  if (launch_environment().launcher == Launcher::mpirun) return profile_mpi_rank(*job, arguments);
#endif
  if (!have_mpi) {
    throw InputError(
        InputProblem{"command line", 0, 0, "", "ranks as processes", "a build with MPI, or --in-process", ""});
  }
  return run_under_mpirun(profile_ranks(*job), words);
}

}  // namespace stagecraft
