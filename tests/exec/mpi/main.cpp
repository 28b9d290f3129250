// The tests of this folder run in every rank of an MPI job; a rank that fails stops all others.

#define CATCH_CONFIG_RUNNER
#include <unistd.h>

#include <catch2/catch.hpp>

#include "mpi_rank.hpp"

namespace stagecraft {

Transport* this_rank = nullptr;

}  // namespace stagecraft

int main(int argc, char** argv) {
  at::set_num_threads(1);
  stagecraft::MpiJob job({20, true});
  stagecraft::this_rank = &job.transport();
  const int failures = Catch::Session().run(argc, argv);
  if (failures != 0) {
    job.transport().abort("a test failed on rank " + std::to_string(job.transport().rank()),
                          stagecraft::StopCause::failed);
    std::fflush(nullptr);
    _exit(1);
  }
}
