#include "topology/dragonfly.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stagecraft {
namespace {

// Links in their order. Adaptive: of every switch out of it and into it, then of every group out of it and into it.
// Fixed: from every switch to every one of its group, then from every group to every other.
struct Dragonfly {
  const Topology& topology;
  const FabricSpec& fabric = topology.cluster.fabric;
  std::int64_t switches = leaf_group_count(topology);
  std::int64_t per_group = std::max<std::int64_t>(1, fabric.switches_per_group);
  std::int64_t groups = (switches - 1) / per_group + 1;
  bool adaptive = fabric.routing == Routing::adaptive;

  std::int64_t locals() const { return adaptive ? 2 * switches : groups * per_group * per_group; }
  std::int64_t globals() const { return adaptive ? 2 * groups : groups * groups; }

  double left() const {
    const auto found = topology.leaf_left.find({-1, -1});
    return found == topology.leaf_left.end() ? 1 : found->second;
  }
  BytesPerSecond local_rate() const {
    return fabric.local_rate * (adaptive ? static_cast<double>(per_group - 1) : 1.0) * left();
  }
  BytesPerSecond global_rate() const {
    return fabric.global_rate * (adaptive ? static_cast<double>(groups - 1) : 1.0) * left();
  }

  void pass(FabricPath& path, std::int64_t offset, BytesPerSecond rate, Seconds latency) const {
    path.hops[path.count++] = {LinkId(static_cast<std::int32_t>(first_trunk(topology) + offset)), rate, latency};
  }
  /// Of fixed routing, the cable between two switches of a group.
  std::int64_t local(std::int64_t from, std::int64_t to) const {
    return from / per_group * per_group * per_group + from % per_group * per_group + to % per_group;
  }
  void pass_local(FabricPath& path, std::int64_t from, std::int64_t to) const {
    if (from == to) return;
    pass(path, local(from, to), local_rate(), fabric.switch_latency);
  }
  /// The switch of `group` that holds the cable to `other`.
  std::int64_t gateway(std::int64_t group, std::int64_t other) const {
    const std::int64_t last = std::min(per_group, switches - group * per_group);
    return group * per_group + (other > group ? other - 1 : other) % last;
  }
};

}  // namespace

std::int64_t dragonfly_groups(const Topology& topology) {
  return Dragonfly{topology}.groups;
}

std::int64_t dragonfly_link_count(const Topology& topology) {
  const Dragonfly fly{topology};
  return fly.locals() + fly.globals();
}

FabricPath dragonfly_path(const Topology& topology, std::int64_t from, std::int64_t to) {
  const Dragonfly fly{topology};
  const Seconds hop = fly.fabric.switch_latency;
  const std::int64_t group = from / fly.per_group, other = to / fly.per_group;
  FabricPath path;
  if (from == to) return path;
  if (!fly.adaptive) {
    if (group == other) {
      fly.pass_local(path, from, to);
      return path;
    }
    fly.pass_local(path, from, fly.gateway(group, other));
    fly.pass(path, fly.locals() + group * fly.groups + other, fly.global_rate(), hop);
    fly.pass_local(path, fly.gateway(other, group), to);
    return path;
  }
  // With one switch per group there are no local cables.
  if (fly.per_group > 1) fly.pass(path, 2 * from, fly.local_rate(), hop);
  if (group != other) {
    fly.pass(path, fly.locals() + 2 * group, fly.global_rate(), hop);
    fly.pass(path, fly.locals() + 2 * other + 1, fly.global_rate(), fly.per_group > 1 ? hop : Seconds{});
  }
  if (fly.per_group > 1) fly.pass(path, 2 * to + 1, fly.local_rate(), {});
  return path;
}

std::vector<TrunkUse> exchanged_over_dragonfly(const Topology& topology,
                                               const std::map<std::int64_t, double>& on_switch) {
  const Dragonfly fly{topology};
  std::vector<TrunkUse> uses;
  const auto use = [&](std::int64_t offset, double pairs) {
    if (pairs > 0) uses.push_back({LinkId(static_cast<std::int32_t>(first_trunk(topology) + offset)), pairs});
  };
  double all = 0;
  std::map<std::int64_t, double> in_group;
  for (const auto& [place, ranks] : on_switch) {
    all += ranks;
    in_group[place / fly.per_group] += ranks;
  }
  if (fly.adaptive) {
    for (const auto& [place, ranks] : on_switch) {
      for (const std::int64_t direction : {0, 1})
        if (fly.per_group > 1) use(2 * place + direction, ranks * (all - ranks));
    }
    for (const auto& [group, ranks] : in_group) {
      for (const std::int64_t direction : {0, 1}) use(fly.locals() + 2 * group + direction, ranks * (all - ranks));
    }
    return uses;
  }
  for (const auto& [place, ranks] : on_switch) {
    const std::int64_t group = place / fly.per_group, first = group * fly.per_group, end = first + fly.per_group;
    for (auto peer = on_switch.lower_bound(first); peer != on_switch.end() && peer->first < end; ++peer) {
      if (peer->first != place) use(fly.local(place, peer->first), ranks * peer->second);
    }
    std::map<std::int64_t, double> through;  // of other groups, by the switch that holds the cable to them
    for (const auto& [other, there] : in_group) {
      if (other != group) through[fly.gateway(group, other)] += there;
    }
    for (const auto& [gateway, there] : through) {
      if (gateway == place) continue;
      use(fly.local(place, gateway), ranks * there);
      use(fly.local(gateway, place), ranks * there);
    }
  }
  for (const auto& [group, ranks] : in_group) {
    for (const auto& [other, there] : in_group)
      if (other != group) use(fly.locals() + group * fly.groups + other, ranks * there);
  }
  return uses;
}

Link dragonfly_link(const Topology& topology, std::int64_t offset) {
  const Dragonfly fly{topology};
  const bool local = offset < fly.locals();
  const std::int64_t at = local ? offset : offset - fly.locals();
  std::string name;
  if (fly.adaptive && local) {
    const std::int64_t place = at / 2;
    name = fmt::format("group{}/switch{}/{}", place / fly.per_group, place % fly.per_group, at % 2 == 0 ? "out" : "in");
  } else if (fly.adaptive) {
    name = fmt::format("group{}/global/{}", at / 2, at % 2 == 0 ? "out" : "in");
  } else if (local) {
    const std::int64_t pairs = fly.per_group * fly.per_group;
    name = fmt::format("group{}/switch{}->switch{}", at / pairs, at % pairs / fly.per_group, at % fly.per_group);
  } else {
    name = fmt::format("group{}->group{}", at / fly.groups, at % fly.groups);
  }
  const BytesPerSecond rate = local ? fly.local_rate() : fly.global_rate();
  return {name, LinkKind::network, rate / fly.left(), rate, fly.fabric.switch_latency, fly.left()};
}

}  // namespace stagecraft
