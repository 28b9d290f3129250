#pragma once
// How this process was started, read from the environment that launchers set.

#include <cstdint>
#include <string>

namespace stagecraft {

enum class Launcher : std::uint8_t { none, mpirun, torchrun, slurm };

struct LaunchEnvironment {
  Launcher launcher = Launcher::none;
  std::int32_t rank = 0, size = 1, local_rank = 0;
  std::string address;  // of rank 0, for torchrun and Slurm; empty if the environment names none
  std::int32_t port = 0;
};

/// OMPI_COMM_WORLD_*; RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT; SLURM_PROCID, SLURM_NTASKS,
/// SLURM_LOCALID. Throws InputError for a variable that is no number or out of range.
LaunchEnvironment launch_environment();

}  // namespace stagecraft
