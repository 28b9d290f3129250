#pragma once
// Measured times of collectives, as nccl-tests gives them, and what they were measured of.

#include <cstdint>
#include <optional>
#include <string>

#include "cost/nccl.hpp"

namespace stagecraft {

struct TimedCollective {
  NcclOp op = NcclOp::all_reduce;
  double bytes = 0;    // nccl-tests' size
  double seconds = 0;  // of one
  std::int32_t nodes = 1, ranks_per_node = 1;
  std::string source;  // the log
};

/// What the columns of one program say beside the times.
struct PrintedColumns {
  std::string program;                             // "all_reduce_perf"; "": the log does not say
  std::string reduction;                           // "sum", "none"; "": no such column
  std::int32_t root = -1;                          // -1: none
  double bus_over_algorithm = 0, ratio_error = 0;  // 0: all bandwidths are printed as 0
  std::int32_t ranks = 1;
  bool checked = false, checked_in_place = false;  // nccl-tests checks no results of an exchange in place
};

struct ToldCollective {
  std::optional<NcclOp> op;
  std::string got, expected;  // if there is none
};

/// Which collective a program ran: by its name, or by `stated` ("": not), held against the ratio of its bandwidths;
/// else the only one that has this ratio, reduction and root.
ToldCollective collective_of(const PrintedColumns& printed, const std::string& stated);

}  // namespace stagecraft
