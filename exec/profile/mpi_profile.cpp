#include <unistd.h>

#include <cstdio>

#include "base/input_error.hpp"
#include "exec/profile/profile.hpp"
#include "exec/transport/mpi.hpp"

namespace stagecraft {

int profile_mpi_rank(const Job& job, const ProfileArguments& arguments) {
  MpiJob mpi({arguments.job.timeout_s, true});
  Transport& transport = mpi.transport();
  try {
    if (transport.size() != profile_ranks(job)) {
      throw InputError(InputProblem{"mpirun", 0, 0, "", std::to_string(transport.size()) + " processes",
                                    std::to_string(profile_ranks(job)) + " processes", ""});
    }
    const Profile profile = profile_rank(job, arguments, transport);
    if (transport.rank() == 0) write_profile(job, arguments, profile);
  } catch (const std::exception& error) {
    transport.abort(error.what(), StopCause::failed);
    std::fprintf(stderr, "stagecraft-exec: rank %d: %s\n", transport.rank(), error.what());
    std::fflush(nullptr);
    ::_exit(6);  // the others may wait inside MPI for this one
  }
  return 0;
}

}  // namespace stagecraft
