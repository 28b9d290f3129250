#include "exec/profile/profile.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <numeric>
#include <thread>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "exec/launch/command_line.hpp"
#include "exec/launch/outputs.hpp"
#include "exec/launch/preflight.hpp"
#include "exec/launch/run_rank.hpp"
#include "exec/profile/time_layers.hpp"
#include "exec/profile/time_transfers.hpp"
#include "exec/profile/write_calibration.hpp"
#include "exec/run/support.hpp"
#include "exec/transport/in_process.hpp"
#include "schedule/lower.hpp"

namespace stagecraft {

namespace {

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

/// What one rank does; only rank 0's profile is complete.
Profile profile_rank(const Plan& plan, const ProfileArguments& arguments, Transport& transport) {
  at::set_num_threads(1);
  if (arguments.pin) pin_to_core(transport.rank());
  const c10::InferenceMode no_graph;
  ExecuteOptions options;
  options.device = arguments.device;
  std::vector<std::int32_t> everybody(static_cast<std::size_t>(transport.size()));
  std::iota(everybody.begin(), everybody.end(), 0);
  const Group world = transport.make_group(everybody);
  std::vector<std::int32_t> first(static_cast<std::size_t>(plan.degrees.tensor));
  std::iota(first.begin(), first.end(), 0);
  const Group tensor = transport.make_group(first);
  const Group self = transport.make_group({0});
  Profile profile;
  if (tensor.index >= 0) time_layers(plan, options, transport, tensor, arguments.repetitions, profile);
  transport.barrier(world)->wait();
  if (self.index >= 0) time_optimizer(plan, options, transport, self, arguments.repetitions, profile);
  transport.barrier(world)->wait();
  const double message = plan.stages.size() > 1 ? message_bytes(plan, Stage(0)).value : 1 << 20;
  const double rows = static_cast<double>(plan.run.batch.micro * plan.run.sequence_length);
  const double group = std::max(rows * static_cast<double>(plan.model.hidden) * 4, 65536.0);
  time_transfers(transport, world, tensor, message, group, options.device, arguments.repetitions, profile);
  return profile;
}

}  // namespace

void add_profile_options(CLI::App& app, ProfileArguments& arguments) {
  app.add_option("--scenario", arguments.scenario, "Scenario file")->required();
  app.add_option("--set", arguments.overrides, "PATH=VALUE, overrides a field of the scenario")
      ->allow_extra_args(false);
  app.add_option("--output", arguments.output, "The calibration file to write")->required();
  app.add_option("--repetitions", arguments.repetitions, "Of each measurement; the median counts")
      ->check(CLI::Range(1, 1000));
  app.add_option_function<std::string>(
      "--device", [&arguments](const std::string& text) { arguments.device = parse_device(text); },
      "cpu, cuda or cuda:N");
  app.add_flag("--pin", arguments.pin, "Pin every rank to a core of its own");
}

int run_profile(const ProfileArguments& arguments) {
  const Scenario scenario =
      load_scenario(arguments.scenario, arguments.overrides, default_library(arguments.executable));
  const Findings findings = check_feasible(scenario);
  if (has_errors(findings)) {
    print_findings(findings);
    return 3;
  }
  const Plan plan = make_plan(scenario);
  // As many ranks as share a layer, and two at least, so that a message can be timed.
  const std::int32_t ranks = world_size(plan.degrees) > 1 ? std::max(plan.degrees.tensor, 2) : 1;
  InProcessJob job(ranks, {600, true});
  std::vector<Profile> profiles(static_cast<std::size_t>(ranks));
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      try {
        profiles[at] = profile_rank(plan, arguments, job.transport(rank));
      } catch (const std::exception& error) {
        errors[at] = std::current_exception();
        job.transport(rank).abort(error.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  write_file_whole(arguments.output, calibration_text(profiles.front(), scenario, machine_name(arguments.device)));
  fmt::print("{}: {} segments and {} transfers of {} measured\n", arguments.output, profiles.front().segments.size(),
             profiles.front().transfers.size(), scenario.name);
  return 0;
}

}  // namespace stagecraft
