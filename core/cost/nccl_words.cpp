#include <algorithm>
#include <array>
#include <stdexcept>

#include "cost/nccl.hpp"

namespace stagecraft {
namespace {

constexpr std::array<const char*, 7> ops{"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                         "broadcast",  "reduce",     "sendrecv"};
constexpr std::array<const char*, 9> algorithms{"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree",
                                                "pat",  "p2p",  "two_tier"};
constexpr std::array<const char*, 3> protocols{"LL", "LL128", "Simple"};

}  // namespace

const char* to_text(NcclOp op) {
  return ops[static_cast<std::size_t>(op)];
}

const char* to_text(NcclAlgorithm algorithm) {
  return algorithms[static_cast<std::size_t>(algorithm)];
}

const char* to_text(NcclProtocol protocol) {
  return protocols[static_cast<std::size_t>(protocol)];
}

std::vector<std::string> nccl_op_names() {
  return {ops.begin(), ops.end()};
}

NcclOp nccl_op_of(const std::string& name) {
  const auto found = std::find(ops.begin(), ops.end(), name);
  if (found == ops.end()) throw std::invalid_argument("no collective \"" + name + "\"");
  return static_cast<NcclOp>(found - ops.begin());
}

NcclAlgorithm nccl_algorithm_of(const std::string& name) {
  const auto found = std::find(algorithms.begin(), algorithms.end(), name);
  if (found == algorithms.end()) throw std::invalid_argument("no algorithm \"" + name + "\"");
  return static_cast<NcclAlgorithm>(found - algorithms.begin());
}

std::vector<std::string> nccl_algorithm_names() {
  return {algorithms.begin(), algorithms.end()};
}

double nccl_bus_factor(NcclOp op, std::int32_t ranks) {
  const double n = ranks;
  switch (op) {
    case NcclOp::all_reduce:
      return 2 * (n - 1) / n;
    case NcclOp::all_gather:
    case NcclOp::reduce_scatter:
    case NcclOp::all_to_all:
      return (n - 1) / n;
    case NcclOp::broadcast:
    case NcclOp::reduce:
    case NcclOp::sendrecv:
      break;
  }
  return 1;
}

}  // namespace stagecraft
