#pragma once
#include "exec/transport/mpi.hpp"

namespace stagecraft {

extern Transport* this_rank;  // the transport of this process, set before any test runs

}  // namespace stagecraft
