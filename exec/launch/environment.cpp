#include "exec/launch/environment.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/input_error.hpp"

namespace stagecraft {

namespace {

std::string text_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::int32_t number_of(const char* name, std::int32_t low, std::int32_t high) {
  const std::string text = text_of(name);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    throw InputError(InputProblem{std::string("environment variable ") + name, 0, 0, "", "\"" + text + "\"",
                                  "a whole number from " + std::to_string(low) + " to " + std::to_string(high), ""});
  }
  return value;
}

LaunchEnvironment read(Launcher launcher, const char* rank, const char* size, const char* local_rank) {
  LaunchEnvironment found;
  found.launcher = launcher;
  found.size = number_of(size, 1, 1 << 24);
  found.rank = number_of(rank, 0, found.size - 1);
  found.local_rank = std::getenv(local_rank) == nullptr ? 0 : number_of(local_rank, 0, 1 << 12);
  return found;
}

}  // namespace

LaunchEnvironment launch_environment() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) {
    return read(Launcher::mpirun, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK");
  }
  LaunchEnvironment found;
  if (std::getenv("RANK") != nullptr && std::getenv("WORLD_SIZE") != nullptr) {
    found = read(Launcher::torchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK");
  } else if (std::getenv("SLURM_PROCID") != nullptr && std::getenv("SLURM_NTASKS") != nullptr) {
    found = read(Launcher::slurm, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID");
  } else {
    return found;
  }
  found.address = text_of("MASTER_ADDR");
  if (std::getenv("MASTER_PORT") != nullptr) found.port = number_of("MASTER_PORT", 1, 65535);
  return found;
}

}  // namespace stagecraft
