#include <unistd.h>

#include <cstdio>

#include "base/input_error.hpp"
#include "exec/launch/finish_rank.hpp"
#include "exec/launch/progress.hpp"
#include "exec/launch/run_job.hpp"
#include "exec/transport/nccl.hpp"

namespace stagecraft {

int run_nccl_rank(const Job& job, const JobArguments& arguments, const LaunchEnvironment& environment) {
  if (environment.address.empty() || environment.port == 0) {
    throw InputError(
        InputProblem{"environment", 0, 0, "", "no MASTER_ADDR and MASTER_PORT",
                     "the address and a free port of rank 0's machine (torchrun sets them; under Slurm the launch "
                     "script of `stagecraft bundle` does)",
                     ""});
  }
  stop_on_signals();
  JobArguments own = arguments;
  own.options.device = at::Device(at::kCUDA, static_cast<at::DeviceIndex>(environment.local_rank));
  const std::unique_ptr<Bootstrap> bootstrap = make_tcp_bootstrap(
      environment.address, environment.port, environment.rank, environment.size, arguments.timeout_s);
  const std::unique_ptr<NcclApi> api = make_nccl_library(own.options.device);
  const std::unique_ptr<Transport> transport =
      make_nccl_transport(*api, *bootstrap, environment.rank, environment.size, {arguments.timeout_s, true});
  AllocationOwners owners;
  RankWatch watch;
  if (environment.rank == 0) watch.after_step = progress_of(own);
  RankOutcome outcome = run_rank(job, own, *transport, environment.local_rank, owners, watch);
  const int code = finish_rank(job, own, "nccl", environment.rank, outcome);
  if (code != 0) {
    ::usleep(200000);  // rank 0 serves the bootstrap: the others must be able to read the reason
    std::fflush(nullptr);
    ::_exit(code);
  }
  return 0;
}

}  // namespace stagecraft
