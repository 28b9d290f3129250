#pragma once
// Compares the machine with the scenario before the first operation.

#include "exec/launch/environment.hpp"
#include "exec/launch/job.hpp"

namespace stagecraft {

struct DeviceFacts {
  std::string name;
  double memory_free = 0, memory_total = 0;  // bytes
  bool peer_access = true;                   // to every other device of this machine
};

/// CUDA devices of this process; empty without a GPU or in a build without CUDA.
std::vector<DeviceFacts> cuda_devices();

/// Cores that this process may run on; asked before a rank is pinned.
std::int64_t usable_cores();

/// Free memory of the host in bytes (MemAvailable of /proc/meminfo), 0 if unknown.
double host_memory_free();

/// What differs, as notes and warnings; an error if a rank's predicted peak does not fit.
Findings compare_machine(const Job& job, const JobArguments& arguments, const LaunchEnvironment& environment);

/// Prints them on the first rank. Throws InputError if there is an error.
void preflight(const Job& job, const JobArguments& arguments, const LaunchEnvironment& environment);

}  // namespace stagecraft
