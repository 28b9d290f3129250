#pragma once
// Where ranks run: the order in which they fill the machines, or a rank file.

#include "base/json_reader.hpp"
#include "spec/object_reader.hpp"
#include "spec/run_spec.hpp"

namespace stagecraft {

/// `node` is the value of /parallel/placement: "tensor-context-data-pipeline", innermost axis first, or {"rank_file":
/// PATH}. A rank file has a line "NODE:GPU" per rank, in the order of ranks, counted from 0; blank lines and what
/// follows "#" are left out. Throws InputError.
PlacementSpec read_placement(const JsonNode& node, Reading& reading);

}  // namespace stagecraft
