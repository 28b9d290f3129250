#pragma once
// The ways to bring a job's ranks up. Each returns the exit code of the program.

#include "exec/launch/environment.hpp"
#include "exec/launch/job.hpp"

namespace stagecraft {

/// All ranks as threads of this process.
int run_in_process(const Job& job, const JobArguments& arguments);

/// This process is one rank of an MPI job.
int run_mpi_rank(const Job& job, const JobArguments& arguments, const LaunchEnvironment& environment);

/// This process is one rank of a job that torchrun or Slurm started, one GPU each.
int run_nccl_rank(const Job& job, const JobArguments& arguments, const LaunchEnvironment& environment);

/// Starts one process per rank on this machine (mpirun) with the words of this command line, waits for them, and tells
/// in one message what went wrong if something did.
int launch_local(const Job& job, const JobArguments& arguments, const std::vector<std::string>& words);

/// Chooses among the above by environment and arguments.
int run_job(const Job& job, const JobArguments& arguments, const std::vector<std::string>& words);

}  // namespace stagecraft
