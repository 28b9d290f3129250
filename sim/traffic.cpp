#include "sim/traffic.hpp"

#include <algorithm>

#include "cost/cost_model.hpp"
#include "topology/host_link.hpp"
#include "topology/ring.hpp"

namespace stagecraft {
namespace {

/// Sums crossings per link over the communicators of one class.
class UseCounter {
 public:
  explicit UseCounter(const Topology& topology) : topology_(topology) {}

  void next_communicator() { ++communicator_; }
  void cross(GpuId from, GpuId to, std::int64_t weight) {
    find_route(topology_, from, to, route_);
    for (const LinkId link : route_.links) crossings_.push_back({link, communicator_, weight});
  }
  void cross(LinkId link) { crossings_.push_back({link, communicator_, 1}); }
  std::vector<LinkUse> uses() {
    std::sort(crossings_.begin(), crossings_.end(), [](const Crossing& a, const Crossing& b) {
      return a.link != b.link ? a.link < b.link : a.communicator < b.communicator;
    });
    std::vector<LinkUse> uses;
    std::int64_t of_communicator = 0;
    for (std::size_t i = 0; i < crossings_.size(); ++i) {
      const bool new_link = i == 0 || crossings_[i].link != crossings_[i - 1].link;
      if (new_link) uses.push_back({crossings_[i].link, 0, 0});
      if (new_link || crossings_[i].communicator != crossings_[i - 1].communicator) of_communicator = 0;
      of_communicator += crossings_[i].weight;
      uses.back().all += crossings_[i].weight;
      uses.back().one = std::max(uses.back().one, of_communicator);
    }
    return uses;
  }

 private:
  struct Crossing {
    LinkId link;
    std::int32_t communicator;
    std::int64_t weight;
  };
  const Topology& topology_;
  Route route_;
  std::vector<Crossing> crossings_;
  std::int32_t communicator_ = 0;
};

Coordinates at(const Degrees& degrees, std::int32_t tensor, std::int32_t replica, PipelineRank pipeline) {
  return {tensor, replica % degrees.context, replica / degrees.context, pipeline.value};
}

void cross_pairs(const TrafficClass& traffic, const Plan& plan, UseCounter& counter) {
  const Degrees& degrees = plan.degrees;
  const std::int32_t replicas = degrees.data * degrees.context;
  const std::int32_t first = std::max(0, traffic.replica);
  const std::int32_t last = traffic.replica < 0 ? replicas : traffic.replica + 1;
  for (std::int32_t replica = first; replica < last; ++replica) {
    for (std::int32_t tensor = 0; tensor < degrees.tensor; ++tensor) {
      counter.next_communicator();
      counter.cross(gpu_of(plan, rank_at(degrees, at(degrees, tensor, replica, traffic.from))),
                    gpu_of(plan, rank_at(degrees, at(degrees, tensor, replica, traffic.to))), 1);
    }
  }
}

/// Every GPU copies for itself.
void cross_host_links(const TrafficClass& traffic, const Plan& plan, const Topology& topology, UseCounter& counter) {
  const Degrees& degrees = plan.degrees;
  std::vector<std::vector<std::vector<std::int32_t>>> ways;  // [kind of node][GPU]
  for (std::size_t kind = 0; kind < kind_count(topology.cluster); ++kind)
    ways.push_back(ways_to_host(node_of_kind(topology.cluster, kind)));
  const std::int32_t first = std::max(0, traffic.replica);
  const std::int32_t last = traffic.replica < 0 ? degrees.data * degrees.context : traffic.replica + 1;
  for (std::int32_t replica = first; replica < last; ++replica) {
    for (std::int32_t tensor = 0; tensor < degrees.tensor; ++tensor) {
      const GpuId gpu = gpu_of(plan, rank_at(degrees, at(degrees, tensor, replica, traffic.from)));
      const std::int32_t node = node_of(topology, gpu).value;
      counter.next_communicator();
      for (const std::int32_t link :
           ways[kind_of(topology, gpu)][static_cast<std::size_t>(gpu.value % topology.gpus_per_node)]) {
        const std::int32_t passed = traffic.kind == TrafficKind::to_host ? link : link ^ 1;
        counter.cross(LinkId(node * topology.links_per_node + passed));
      }
    }
  }
}

/// The pipeline rank that shares the embedding with `rank`, or the other copy of a bidirectional stage.
PipelineRank partner(const Schedule& schedule, PipelineRank rank, const Op& op) {
  if (op.kind == OpKind::reduce_tied) {
    const Stage first(0), last(stage_count(schedule) - 1);
    for (std::uint8_t copy = 0; copy < schedule.placement.size(); ++copy) {
      if (rank_of(schedule, first, copy) == rank) return rank_of(schedule, last, copy);
      if (rank_of(schedule, last, copy) == rank) return rank_of(schedule, first, copy);
    }
    return {};
  }
  if (schedule.placement.size() < 2 || !op.stage.valid()) return {};
  return rank_of(schedule, op.stage, op.replica == 0 ? 1 : 0);
}

using Members = std::vector<GpuId>;

void append_group(Members& members, Axis axis, Rank rank, const Plan& plan) {
  for (const Rank member : group_of(plan.degrees, axis, rank)) members.push_back(gpu_of(plan, member));
  if (!plan.gpus.empty()) std::sort(members.begin(), members.end());  // NCCL's rings go node by node
}

/// A ring, and whose sends count: all members' if empty.
struct SentRing {
  Ring ring;
  Members senders;
};

/// Counts the edges of all rings, and returns the units that make up what one rank sends.
std::int64_t cross_rings(const std::vector<SentRing>& rings, UseCounter& counter) {
  std::vector<std::int64_t> of_rings;
  for (const SentRing& sent : rings) of_rings.push_back(sent.ring.units);
  const std::int64_t units = common_units(of_rings);
  for (const auto& [ring, senders] : rings) {
    counter.next_communicator();
    for (const RingEdge& edge : ring.edges) {
      if (!senders.empty() && !std::binary_search(senders.begin(), senders.end(), edge.from)) continue;
      counter.cross(edge.from, edge.to, share_of_units(edge.weight * units, ring.units));
    }
  }
  return units;
}

void add_ring(const Members& members, Members senders, const Topology& topology, std::vector<SentRing>& rings) {
  if (members.size() > 1) rings.push_back({make_ring(topology, members), std::move(senders)});
}

std::int64_t cross_data_rings(const TrafficClass& traffic, const Plan& plan, const Topology& topology,
                              UseCounter& counter) {
  std::vector<SentRing> rings;
  const Degrees& degrees = plan.degrees;
  const auto size = static_cast<std::int32_t>(group_size(degrees, traffic.over));
  for (std::int32_t first = 0; first < degrees.data * degrees.context; first += size) {
    for (std::int32_t tensor = 0; tensor < degrees.tensor; ++tensor) {
      Members members, senders;
      append_group(members, traffic.over, rank_at(degrees, at(degrees, tensor, first, traffic.from)), plan);
      if (traffic.to.valid() && traffic.to != traffic.from) {
        senders = members;
        append_group(members, traffic.over, rank_at(degrees, at(degrees, tensor, first, traffic.to)), plan);
        std::sort(members.begin(), members.end());
      }
      add_ring(members, std::move(senders), topology, rings);
    }
  }
  return cross_rings(rings, counter);
}

std::int64_t cross_tensor_rings(const TrafficClass& traffic, const Plan& plan, const Topology& topology,
                                UseCounter& counter) {
  std::vector<SentRing> rings;
  const std::int32_t replicas = plan.degrees.data * plan.degrees.context;
  const std::int32_t last = traffic.replica < 0 ? replicas : traffic.replica + 1;
  for (std::int32_t replica = std::max(0, traffic.replica); replica < last; ++replica) {
    Members members;
    append_group(members, Axis::tensor, rank_at(plan.degrees, at(plan.degrees, 0, replica, traffic.from)), plan);
    add_ring(members, {}, topology, rings);
  }
  return cross_rings(rings, counter);
}

bool is_communication(OpKind kind) {
  return is_send(kind) || kind == OpKind::reduce_grad || kind == OpKind::reduce_tied || kind == OpKind::gather_params ||
         kind == OpKind::unshard || is_copy(kind);
}

}  // namespace

std::int32_t replica_count(const Plan& plan, bool folded) {
  return folded ? 1 : plan.degrees.data * plan.degrees.context;
}

TrafficClass class_of(const Plan& plan, const Schedule& schedule, PipelineRank rank, const Op& op,
                      std::int32_t replica) {
  if (is_send(op.kind)) {
    const Channel& channel = schedule.channels[op.channel.index()];
    return {TrafficKind::send, channel.gradient, replica, channel.from, channel.to};
  }
  if (op.kind == OpKind::reduce_tied) return {TrafficKind::tied, false, replica, rank, partner(schedule, rank, op)};
  if (is_copy(op.kind)) {
    return {copies_to_host(op.kind) ? TrafficKind::to_host : TrafficKind::from_host, false, replica, rank, {}};
  }
  const bool shards = collective_of(plan, op).group == Axis::shard && group_size(plan.degrees, Axis::replica) > 1;
  return {TrafficKind::data, false, -1, rank, partner(schedule, rank, op), shards ? Axis::shard : Axis::data};
}

std::vector<TrafficClass> traffic_classes(const Plan& plan, const Schedule& schedule, bool folded) {
  std::vector<TrafficClass> classes;
  for (std::int32_t replica = 0; replica < replica_count(plan, folded); ++replica) {
    const std::int32_t of_class = folded ? -1 : replica;
    for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
      if (plan.degrees.tensor > 1) classes.push_back({TrafficKind::tensor, false, of_class, PipelineRank(rank), {}});
      for (const Op& op : schedule.programs[rank]) {
        if (is_communication(op.kind) && !is_send(op.kind)) {
          classes.push_back(class_of(plan, schedule, PipelineRank(rank), op, of_class));
        }
      }
    }
    for (const Channel& channel : schedule.channels) {
      classes.push_back({TrafficKind::send, channel.gradient, of_class, channel.from, channel.to});
    }
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

ClassTraffic traffic_of(const TrafficClass& traffic, const Plan& plan, const Topology& topology) {
  UseCounter counter(topology);
  std::int64_t units = 1;
  switch (traffic.kind) {
    case TrafficKind::send:
    case TrafficKind::tied:
      cross_pairs(traffic, plan, counter);
      break;
    case TrafficKind::data:
      units = cross_data_rings(traffic, plan, topology, counter);
      break;
    case TrafficKind::tensor:
      units = cross_tensor_rings(traffic, plan, topology, counter);
      break;
    case TrafficKind::to_host:
    case TrafficKind::from_host:
      cross_host_links(traffic, plan, topology, counter);
      break;
  }
  return {1.0 / static_cast<double>(units), false, counter.uses()};
}

bool has_several_channels(const TrafficClass& traffic, const Schedule& schedule) {
  if (traffic.kind != TrafficKind::send) return false;
  const auto belongs = [&](const Channel& channel) {
    return channel.from == traffic.from && channel.to == traffic.to && channel.gradient == traffic.gradient;
  };
  return std::count_if(schedule.channels.begin(), schedule.channels.end(), belongs) > 1;
}

}  // namespace stagecraft
