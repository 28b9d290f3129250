#include "cost/calibration.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>

namespace stagecraft {

const char* to_text(Evidence evidence) {
  switch (evidence) {
    case Evidence::measured:
      return "measured";
    case Evidence::fitted:
      return "fitted";
    case Evidence::borrowed:
      break;
  }
  return "borrowed";
}

namespace {

auto key_of(const MeasuredKernel& kernel) {
  return std::tie(kernel.segment, kernel.batch, kernel.m, kernel.n, kernel.k, kernel.bytes);
}

}  // namespace

bool comes_before(const MeasuredKernel& a, const MeasuredKernel& b) {
  return key_of(a) < key_of(b);
}

const MeasuredKernel* find_measured(const Calibration& calibration, const Segment& segment) {
  if (calibration.measured.empty() || segment.is_collective) return nullptr;
  const Kernel& kernel = segment.kernel;
  const MeasuredKernel wanted{segment.name, kernel.batch, kernel.m, kernel.n, kernel.k, kernel.bytes.value, 0, 0};
  const auto found = std::lower_bound(calibration.measured.begin(), calibration.measured.end(), wanted, comes_before);
  return found == calibration.measured.end() || comes_before(wanted, *found) ? nullptr : &*found;
}

const Constant& constant(const Calibration& calibration, std::string_view name) {
  const auto found = calibration.constants.find(name);
  if (found == calibration.constants.end()) {
    throw std::invalid_argument("the calibration lacks the constant " + std::string(name));
  }
  return found->second;
}

namespace {

constexpr std::array<ConstantMeaning, 22> meanings{{
    {"memory_efficiency", "", "fraction of the nominal memory bandwidth that streaming kernels reach", false},
    {"launch_us", "us", "time from one kernel to the next on the GPU, back to back", false},
    {"ring_efficiency", "",
     "fraction of the slowest link's rate that a ring inside a node reaches, where none was measured", false},
    {"host_staging_efficiency", "", "the same where copies pass host memory", false},
    {"collective_latency_us", "us", "fixed time of a collective without a measured profile", false},
    {"nic_ring_efficiency", "", "fraction of the NICs' achieved rate that a ring across nodes reaches", false},
    {"deduplicated_nic_efficiency", "",
     "fraction of its NIC's achieved rate that a GPU reaches in a deduplicated dispatch or combine", false},
    {"inter_hop_us", "us", "latency of one step from node to node of a ring", false},
    {"inter_level_us", "us", "latency of one doubling of the nodes of a tree", false},
    {"inter_level_small_us", "us", "the same in the low-latency protocols", false},
    {"inter_small_bus_fraction", "", "bandwidth of the low-latency protocols over the full one", false},
    {"transfer_efficiency", "", "fraction of a route's achieved rate that one send reaches", false},
    {"transfer_latency_us", "us", "fixed time of a send, without wires and switches", false},
    {"rank_spread", "", "standard deviation of the sustained speed of equal GPUs, as a fraction", false},
    {"block_spread", "", "standard deviation of the time of one block from rank to rank, as a fraction", false},
    {"gemm_beside_collective", "",
     "fraction of its speed that a matrix product keeps beside a collective that holds multiprocessors", false},
    {"element_wise_efficiency", "", "fraction of the streaming rate that the framework's element-wise kernels reach",
     true},
    {"collective_efficiency", "",
     "fraction of the achieved rate that the framework's own collectives over the tensor group reach", true},
    {"stream_launch_us", "us",
     "time from one kernel to the next where streams wait for each other, as those of the experts do", true},
    {"host_launch_us", "us", "host time to launch one kernel", true},
    {"host_step_ms", "ms", "host work per step that the GPU waits for", true},
    {"broadcast_ms", "ms",
     "host time per rank of the sharding group, where each rank's share of the updated parameters is broadcast by "
     "itself",
     true},
}};

}  // namespace

std::span<const ConstantMeaning> constant_meanings() {
  return meanings;
}

}  // namespace stagecraft
