#pragma once
// Which flows are under way on which bottlenecks. A flow that has all its links to itself runs at its cap, so that its
// end is known and SimGrid need not hear of it; as soon as another flow comes to one of its links, what is left of it
// and the newcomer go to SimGrid. Internal to the room.

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/flow_network.hpp"
#include "sim/flow_record.hpp"
#include "sim/playbook.hpp"

namespace stagecraft {

/// The end of a lone flow, valid until it gets company.
struct LoneEnd {
  bool lone = false;
  double time_s = 0;
  std::uint32_t slot = 0, serial = 0;
};

class LiveFlows {
 public:
  /// `stretches`: filled if not null.
  LiveFlows(const Playbook& book, FlowNetwork& network, std::vector<FlowStretch>* stretches);

  /// Whether a flow on the path would meet another: then start() needs SimGrid's clock to stand at its `now_s`.
  bool has_company(std::int32_t path) const;
  /// `flow` comes back in FlowListener::on_flow_end unless the flow is lone to its end.
  LoneEnd start(std::int32_t path, std::uint64_t units, std::uint64_t flow, double now_s);
  bool still_lone(const LoneEnd& end) const { return lone_[end.slot].serial == end.serial; }
  /// The lone flow of a valid LoneEnd is through.
  void finish_lone(const LoneEnd& end);
  /// A flow that SimGrid played is through.
  void finish(std::int32_t path, std::uint64_t flow, double now_s);

 private:
  static constexpr std::uint32_t nobody = 0xffffffff;
  struct Lone {
    double begin_s = 0;
    std::uint64_t units = 0, flow = 0;
    std::int32_t path = -1;
    std::uint32_t serial = 0;  // counts the flows that used the slot
  };
  struct LinkState {
    std::uint32_t live = 0;
    std::uint32_t lone = nobody;  // slot of the flow that has the link to itself
  };

  void enter(std::int32_t path, std::uint32_t lone_slot);
  void leave(std::int32_t path);
  void send(std::int32_t path, std::uint64_t units, std::uint64_t flow, double now_s);
  void hand_over(std::uint32_t slot, double now_s);
  void free_slot(std::uint32_t slot);
  const FlowPath& path_at(std::int32_t path) const { return book_.paths[static_cast<std::size_t>(path)]; }

  const Playbook& book_;
  FlowNetwork& network_;
  std::optional<FlowRecord> record_;
  std::vector<LinkState> links_;
  std::vector<Lone> lone_;
  std::vector<std::uint32_t> free_;
};

}  // namespace stagecraft
