#pragma once
// A hardware profile's constants of collectives and sends, fitted to what nccl-tests measured.

#include <string>
#include <vector>

#include "validate/network_constants_fit.hpp"
#include "validate/profile_text.hpp"

namespace stagecraft {

/// Errors (predicted / measured - 1) of one collective over a range of sizes.
struct SizeErrors {
  NcclOp op = NcclOp::all_reduce;
  std::int32_t nodes = 1, ranks_per_node = 1;
  double from = 0, to = 0;  // bytes: above `from`, up to `to`
  ErrorStatistics before, after;
};

struct NetworkFit {
  std::string hardware;
  std::vector<NetworkConstant> constants;  // by their names in list_constants; before: 0 where there was no law
  std::vector<SizeErrors> errors;
  std::vector<std::string> notes;  // what was left as it was, and why
  Calibration fitted;              // with the constants that are determined
  ProfileDraft profile;            // the same as an extension; its `extends` is the hardware profile's name
};

/// Collectives inside one node each get the law of CollectiveProfile, those across nodes share the constants of
/// fit_across_nodes, sends those of fit_sends. Throws InputError for a cluster with faults, for a reduce (which has no
/// law), and as the fits do.
NetworkFit fit_network(const std::vector<TimedCollective>& times, const Topology& topology,
                       const Calibration& calibration);

}  // namespace stagecraft
