#include <unistd.h>

#include <cstdio>

#include "exec/launch/finish_rank.hpp"
#include "exec/launch/progress.hpp"
#include "exec/launch/run_job.hpp"
#include "exec/transport/mpi.hpp"

namespace stagecraft {

int run_mpi_rank(const Job& job, const JobArguments& arguments, const LaunchEnvironment& environment) {
  stop_on_signals();
  int code = 0;
  {
    MpiJob mpi({arguments.timeout_s, true});
    AllocationOwners owners;
    std::optional<SharedWhereabouts> whereabouts;
    if (!arguments.report_folder.empty()) whereabouts.emplace(arguments.report_folder, mpi.transport().rank());
    RankWatch watch{whereabouts ? &whereabouts->get() : nullptr, {}};
    if (mpi.transport().rank() == 0) watch.after_step = progress_of(arguments);
    RankOutcome outcome = run_rank(job, arguments, mpi.transport(), environment.local_rank, owners, watch);
    code = finish_rank(job, arguments, "mpi", mpi.transport().rank(), outcome);
    if (code != 0) {
      // Ranks may be gone, so MPI can't be ended in order. The others have the reason already; give it time to arrive.
      ::usleep(200000);
      std::fflush(nullptr);
      ::_exit(code);
    }
  }
  return code;
}

}  // namespace stagecraft
