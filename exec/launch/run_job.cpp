#include "exec/launch/run_job.hpp"

#include <fmt/format.h>

#include "base/input_error.hpp"
#include "exec/launch/preflight.hpp"

namespace stagecraft {

namespace {

[[noreturn]] void refuse(std::string got, std::string expected) {
  throw InputError(InputProblem{"command line", 0, 0, "", std::move(got), std::move(expected), ""});
}

#ifdef STAGECRAFT_HAVE_MPI
constexpr bool have_mpi = true;
#else
constexpr bool have_mpi = false;
#endif

}  // namespace

int run_job(const Job& job, const JobArguments& arguments, const std::vector<std::string>& words) {
  const LaunchEnvironment environment = launch_environment();
  const std::int64_t ranks = world_size(job.plan.degrees);
  if (environment.launcher != Launcher::none && !arguments.in_process) {
    if (environment.size != ranks) {
      refuse(fmt::format("{} processes", environment.size),
             fmt::format("one process per rank of the scenario, {}", ranks));
    }
    preflight(job, arguments, environment);
    if (environment.launcher == Launcher::mpirun && arguments.options.device.is_cpu()) {
#ifdef STAGECRAFT_HAVE_MPI
      return run_mpi_rank(job, arguments, environment);
#else
      refuse("a launch by mpirun", "a build with MPI, or --in-process");
#endif
    }
    if (arguments.options.device.is_cpu()) {
      refuse("ranks on CPU under torchrun or Slurm", "mpirun for ranks on CPU, or --device cuda");
    }
    if (!arguments.profile.empty()) refuse("--profile under NCCL", "--profile with ranks on CPU, or --in-process");
#ifdef STAGECRAFT_HAVE_CUDA
    return run_nccl_rank(job, arguments, environment);
#else
    refuse("--device cuda", "a build that found the CUDA toolkit and NCCL");
#endif
  }
  preflight(job, arguments, environment);
  if (arguments.in_process || ranks == 1) return run_in_process(job, arguments);
  if (!arguments.options.device.is_cpu()) {
    refuse("several ranks on GPUs without a launcher",
           "torchrun or srun with one process per GPU, or --in-process on one GPU");
  }
  if (!have_mpi) refuse("ranks as processes", "a build with MPI, or --in-process");
  return launch_local(job, arguments, words);
}

}  // namespace stagecraft
