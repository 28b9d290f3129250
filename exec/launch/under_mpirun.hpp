#pragma once
// Open MPI's launcher on this machine.

#include <cstdint>
#include <string>
#include <vector>

namespace stagecraft {

/// Starts `ranks` processes with these words under mpirun, waits for all of them and returns mpirun's exit code (128 +
/// N if signal N ended it). They end with this program. Throws InputError if there is no mpirun.
int run_under_mpirun(std::int64_t ranks, const std::vector<std::string>& words);

}  // namespace stagecraft
