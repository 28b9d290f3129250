#pragma once
// How fast every flow went when, for counters of links. Rates change only when a flow starts or ends on a link that
// others use, so a life falls into stretches of one rate. Internal to the room.

#include <cstdint>
#include <vector>

#include "sim/flow_network.hpp"

namespace stagecraft {

/// A part of a flow's life at one rate.
struct FlowStretch {
  double begin_s = 0, end_s = 0;
  double units = 0;  // that went in it
  std::int32_t path = -1;
};

/// Follows the flows that SimGrid plays. Told of every start and end, in the order of time.
class FlowRecord {
 public:
  FlowRecord(const FlowNetwork& network, std::vector<FlowStretch>& stretches)
      : network_(network), stretches_(stretches) {}

  /// A stretch of which all is known.
  void add(const FlowStretch& stretch);
  /// Before the flow starts in the network: notes what the others sent until now.
  void advance(double now_s);
  /// `handle` is the network's.
  void follow(std::uint64_t flow, FlowHandle handle, std::int32_t path, std::uint64_t units, double now_s);
  void end(std::uint64_t flow, double now_s);

 private:
  struct Followed {
    std::uint64_t flow = 0;
    FlowHandle handle;
    std::int32_t path = -1;
    double left = 0, since_s = 0;
    std::size_t last = none;  // its stretch that was noted last
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  void note(Followed& followed, double left, double now_s);

  const FlowNetwork& network_;
  std::vector<FlowStretch>& stretches_;
  std::vector<Followed> followed_;
};

}  // namespace stagecraft
