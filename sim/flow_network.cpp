#include "sim/flow_network.hpp"

#include <fmt/format.h>
#include <xbt/log.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <csignal>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

namespace stagecraft {
namespace {

namespace sg = simgrid::s4u;
namespace kernel = simgrid::kernel;

using LinkImpl = kernel::resource::StandardLinkImpl;
using LinkList = std::vector<LinkImpl*>;

/// A zone whose only route is that of the flow about to start: routes cost no memory and no look-up.
class RouteOnDemand final : public kernel::routing::NetZoneImpl {
 public:
  explicit RouteOnDemand(const std::string& name) : NetZoneImpl(name) {}
  void take(const LinkList& links) { links_ = &links; }

 private:
  void get_local_route(const kernel::routing::NetPoint* /*from*/, const kernel::routing::NetPoint* /*to*/,
                       kernel::routing::Route* route, double* /*latency*/) override {
    if (links_ != nullptr) route->link_list_.insert(route->link_list_.end(), links_->begin(), links_->end());
  }
  void get_graph(const s_xbt_graph_t* /*graph*/, std::map<std::string, xbt_node_t, std::less<>>* /*nodes*/,
                 std::map<std::string, xbt_edge_t, std::less<>>* /*edges*/) override {}

  const LinkList* links_ = nullptr;
};

struct Path {
  double cap = 0;
  std::vector<Crossing> crossings;
  LinkList route;
};

struct SharedLink {
  std::string name;
  double rate = 0;
  LinkImpl* impl = nullptr;
};

}  // namespace

struct FlowNetwork::State {
  /// What a comm carries, so that the one callback of the process finds its way back. Reused once its flow has ended.
  struct Slot {
    State* owner = nullptr;
    std::uint64_t flow = 0;
    sg::CommPtr comm;
    std::uint32_t index = 0;
  };

  std::unique_ptr<sg::Engine> engine;
  RouteOnDemand* zone = nullptr;
  sg::Host* source = nullptr;
  sg::Host* target = nullptr;
  std::vector<SharedLink> links;
  std::vector<Path> paths;
  std::vector<std::unique_ptr<Slot>> slots;
  std::vector<std::uint32_t> free_slots;
  std::vector<sg::CommPtr> ended;  // SimGrid still reads a comm after its callback
  FlowListener* listener = nullptr;
  kernel::timer::Timer* alarm = nullptr;
  double start = 0;
  double alarm_time = 0;  // of the alarm that is set
  double reached = 0;     // of the last that rang: clock minus start may round to less
  std::uint64_t live = 0;

  void build();
  void ring() {
    alarm = nullptr;
    reached = alarm_time;
    listener->on_alarm();
  }
  void end(Slot& slot) {
    ended.clear();  // those before: their callbacks have returned
    ended.push_back(std::move(slot.comm));
    free_slots.push_back(slot.index);
    --live;
    listener->on_flow_end(slot.flow);
  }
};

namespace {

/// SimGrid takes signals over when its engine starts; they belong to the program (which may ignore Ctrl+C, as nohup
/// asks). Restores what was set before.
class KeptSignals {
 public:
  KeptSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], nullptr, &actions_[i]);
  }
  ~KeptSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &actions_[i], nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGPIPE, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, signals.size()> actions_{};
};

/// SimGrid connects callbacks and fixes the network model for the whole process, so both happen once.
void set_up_process(sg::Engine& engine, void (*on_end)(void*)) {
  static const bool done = [&] {
    xbt_log_control_set("root.thresh:warning");
    for (const char* setting : {"network/model:CM02", "network/TCP-gamma:1e30", "network/crosstraffic:0",
                                "network/loopback-bw:2e12", "maxmin/precision:1e-9", "debug/verbose-exit:no"}) {
      engine.set_config(setting);
    }
    sg::Activity::on_completion_cb([on_end](sg::Activity const& activity) {
      if (void* slot = activity.get_data<void>(); slot != nullptr) on_end(slot);
    });
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

void FlowNetwork::State::build() {
  zone = new RouteOnDemand("cluster");  // owned by the engine once it is the root zone
  sg::NetZone* world = zone->get_iface();
  source = world->create_host("from", 1.0);
  target = world->create_host("to", 1.0);
  for (SharedLink& link : links)
    link.impl = world->create_link(link.name, link.rate)->set_latency(0)->seal()->get_impl();
  for (std::size_t path = 0; path < paths.size(); ++path) {
    sg::Link* cap = world->create_link(fmt::format("cap{}", path), paths[path].cap)
                        ->set_latency(0)
                        ->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE)
                        ->seal();
    paths[path].route.push_back(cap->get_impl());
    for (const Crossing& crossing : paths[path].crossings) {
      LinkImpl* shared = links[static_cast<std::size_t>(crossing.link)].impl;
      paths[path].route.insert(paths[path].route.end(), static_cast<std::size_t>(crossing.crossings), shared);
    }
  }
  world->seal();
}

FlowNetwork::FlowNetwork() : state_(std::make_unique<State>()) {}
FlowNetwork::~FlowNetwork() = default;

std::int32_t FlowNetwork::add_shared_link(const std::string& name, double rate) {
  assert(rate > 0);
  state_->links.push_back({fmt::format("{}:{}", state_->links.size(), name), rate, nullptr});
  return static_cast<std::int32_t>(state_->links.size()) - 1;
}

std::int32_t FlowNetwork::add_path(double cap, std::vector<Crossing> crossings) {
  assert(cap > 0);
  state_->paths.push_back({cap, std::move(crossings), {}});
  return static_cast<std::int32_t>(state_->paths.size()) - 1;
}

void FlowNetwork::run(FlowListener& listener) {
  State& state = *state_;
  state.listener = &listener;
  {
    const KeptSignals kept;
    state.engine = std::make_unique<sg::Engine>("stagecraft");
  }
  set_up_process(*state.engine, [](void* slot) {
    auto& ended = *static_cast<State::Slot*>(slot);
    ended.owner->end(ended);
  });
  state.build();
  state.engine->seal_platform();
  state.start = sg::Engine::get_clock();
  listener.on_alarm();
  state.engine->run();
}

double FlowNetwork::now() const {
  return std::max(state_->reached, sg::Engine::get_clock() - state_->start);
}

FlowHandle FlowNetwork::start_flow(std::int32_t path, std::uint64_t units, std::uint64_t flow) {
  State& state = *state_;
  if (state.free_slots.empty()) {
    state.free_slots.push_back(static_cast<std::uint32_t>(state.slots.size()));
    state.slots.push_back(std::make_unique<State::Slot>());
    state.slots.back()->index = state.free_slots.back();
    state.slots.back()->owner = &state;
  }
  State::Slot& slot = *state.slots[state.free_slots.back()];
  state.free_slots.pop_back();
  slot.flow = flow;
  state.zone->take(state.paths[static_cast<std::size_t>(path)].route);
  slot.comm = sg::Comm::sendto_init(state.source, state.target);
  slot.comm->set_payload_size(units);
  slot.comm->set_data(&slot);
  slot.comm->start();
  ++state.live;
  return {slot.index};
}

double FlowNetwork::units_left(FlowHandle flow) const {
  return state_->slots[flow.slot]->comm->get_remaining();
}

void FlowNetwork::set_alarm(double time) {
  State& state = *state_;
  if (state.alarm != nullptr) state.alarm->remove();
  state.alarm_time = time;
  State* self = &state;
  state.alarm =
      kernel::timer::Timer::set(std::max(state.start + time, sg::Engine::get_clock()), [self] { self->ring(); });
}

std::uint64_t FlowNetwork::live_flows() const {
  return state_->live;
}

}  // namespace stagecraft
