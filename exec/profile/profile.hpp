#pragma once
// Times each kind of operation of a scenario alone and writes what was found as a calibration.

#include <string>
#include <vector>

#include "exec/launch/job.hpp"
#include "exec/profile/measured_segment.hpp"
#include "exec/transport/transport.hpp"

namespace CLI {
class App;
}

namespace stagecraft {

struct ProfileArguments {
  JobArguments job;               // of which scenario, schedule, device, pinning and launch are read
  std::string output;             // the calibration file
  std::int32_t repetitions = 15;  // of each measurement
};

void add_profile_options(CLI::App& app, ProfileArguments& arguments);

/// Ranks that measure together: those that share a layer, and two at least where the scenario has more than one, so
/// that messages can be timed and every core is as busy as in a step.
std::int32_t profile_ranks(const Job& job);

/// Brings the ranks up as `run` does (processes under mpirun, or threads), measures, writes the file. Returns the exit
/// code.
int run_profile(const ProfileArguments& arguments, const std::vector<std::string>& words);

/// What each rank does; the averages over the ranks come back on all of them.
Profile profile_rank(const Job& job, const ProfileArguments& arguments, Transport& transport);

/// Writes the calibration.
void save_profile(const Job& job, at::Device device, const std::string& path, const Profile& profile);

/// Writes the calibration and says so.
void write_profile(const Job& job, const ProfileArguments& arguments, const Profile& profile);

/// This process is one rank of an MPI job.
int profile_mpi_rank(const Job& job, const ProfileArguments& arguments);

}  // namespace stagecraft
