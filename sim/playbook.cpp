#include "sim/playbook.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/demand.hpp"
#include "sim/operation_kinds.hpp"
#include "sim/traffic.hpp"

namespace stagecraft {
namespace {

struct Builder {
  const Plan& plan;
  const Schedule& schedule;
  const LocalCosts& costs;
  const Topology& topology;
  bool folded;

  std::vector<TrafficClass> classes;
  std::vector<ClassTraffic> traffic;  // per class
  Bottlenecks bottlenecks;
  std::vector<std::map<double, std::int32_t>> paths_by_cap;  // per class
  Playbook book;

  std::size_t class_index(const TrafficClass& wanted) const {
    return static_cast<std::size_t>(std::lower_bound(classes.begin(), classes.end(), wanted) - classes.begin());
  }
  std::size_t class_of_kind(const OperationKind& kind, std::int32_t replica) const {
    return class_index(class_of(plan, schedule, kind.rank, kind.op, folded ? -1 : replica));
  }
  std::size_t tensor_class(PipelineRank rank, std::int32_t replica) const {
    return class_index({TrafficKind::tensor, false, folded ? -1 : replica, rank, {}});
  }
  const CostModel& model(PipelineRank rank, std::int32_t replica) const {
    return costs.models[costs.at(rank, replica)];
  }
  const BodyTime& body(PipelineRank rank, std::int32_t replica, std::size_t id) const {
    return costs.bodies[costs.at(rank, replica)][id];
  }
  /// A message takes its own replica's way; of the tensor group's, the slowest.
  Demand demand_of_kind(const OperationKind& kind, std::int32_t replica) const {
    if ((costs.of.empty() && plan.gpus.empty()) || folded || !is_send(kind.op.kind)) return kind.demand;
    const Channel& channel = schedule.channels[kind.op.channel.index()];
    const auto gpu = [&](PipelineRank rank, std::int32_t tensor) {
      const Degrees& degrees = plan.degrees;
      return gpu_of(plan, rank_at(degrees, {tensor, replica % degrees.context, replica / degrees.context, rank.value}));
    };
    Demand slowest;
    Route route;
    for (std::int32_t tensor = 0; tensor < plan.degrees.tensor; ++tensor) {
      find_route(topology, gpu(channel.from, tensor), gpu(channel.to, tensor), route);
      const Demand demand =
          stagecraft::demand_of(transfer_time(kind.op.bytes, route, costs.models.front().calibration));
      if (demand.seconds > slowest.seconds) slowest = demand;
    }
    return slowest;
  }
  double units(std::size_t of_class, const Demand& demand) const {
    return std::max(1.0, std::round(demand.bytes * traffic[of_class].units_per_byte));
  }
  /// Units per second on an idle network; 0 if the network has no say.
  double idle_rate(std::size_t of_class, const Demand& demand) const {
    return has_rate(demand) ? units(of_class, demand) / (demand.seconds - demand.latency) : 0;
  }
};

/// The highest idle rate of every class.
std::vector<double> idle_rates(const Builder& b, const std::vector<OperationKind>& kinds) {
  std::vector<double> rates(b.classes.size(), 0);
  const auto raise = [&](std::size_t of_class, const Demand& demand) {
    rates[of_class] = std::max(rates[of_class], b.idle_rate(of_class, demand));
  };
  for (const OperationKind& kind : kinds) {
    for (std::int32_t replica = 0; replica < b.book.replicas; ++replica) {
      if (kind.communicates) {
        raise(b.class_of_kind(kind, replica), b.demand_of_kind(kind, replica));
      } else if (kind.op.body.valid() && b.plan.degrees.tensor > 1) {
        const std::size_t body = kind.op.body.index();
        for (const Demand& demand : tensor_demands(b.model(kind.rank, replica), b.schedule.bodies.bodies[body],
                                                   b.body(kind.rank, replica, body))) {
          raise(b.tensor_class(kind.rank, replica), demand);
        }
      }
    }
  }
  return rates;
}

/// The path of a class with this cap; one per distinct cap.
std::int32_t path_with(Builder& b, std::size_t of_class, double cap) {
  const auto [entry, added] = b.paths_by_cap[of_class].emplace(cap, static_cast<std::int32_t>(b.book.paths.size()));
  if (added) b.book.paths.push_back({cap, b.bottlenecks.routes[of_class].crossings});
  return entry->second;
}

struct Played {
  Move move;
  double idle_s = 0;  // where only the flows of its own class slow it
};

Played play_demand(Builder& b, std::size_t of_class, const Demand& demand) {
  if (!has_rate(demand)) return {{demand.seconds, -1, 0}, demand.seconds};
  const ClassRoute& route = b.bottlenecks.routes[of_class];
  const double units = b.units(of_class, demand);
  const double rate = b.idle_rate(of_class, demand);
  const double cap = std::min(rate, route.own_limit);
  const double seconds = cap < rate ? demand.latency + units / cap : demand.seconds;
  if (route.crossings.empty()) return {{seconds, -1, 0}, seconds};
  return {{demand.latency, path_with(b, of_class, cap), static_cast<std::uint64_t>(units)}, seconds};
}

/// Whether other traffic, or the same of other ranks, can slow the tensor-parallel collectives of a body.
bool network_matters(const Builder& b, PipelineRank rank, std::size_t body, std::int32_t replica) {
  if (b.plan.degrees.tensor == 1) return false;
  const std::size_t of_class = b.tensor_class(rank, replica);
  const ClassRoute& route = b.bottlenecks.routes[of_class];
  for (const Demand& demand :
       tensor_demands(b.model(rank, replica), b.schedule.bodies.bodies[body], b.body(rank, replica, body))) {
    if (has_rate(demand) && (!route.crossings.empty() || b.idle_rate(of_class, demand) > route.own_limit)) return true;
  }
  return false;
}

std::uint16_t inner_of_body(Builder& b, const BodyTime& time) {
  const ExposedTime& exposed = time.exposed;
  return index_of(b.book.inner,
                  {exposed.context.value, exposed.expert.value, exposed.data.value, exposed.copies.value});
}

/// A body move by move: kernels pass as time, tensor-parallel collectives as flows.
Work play_segments(Builder& b, PipelineRank rank, std::size_t id, std::int32_t replica) {
  const std::size_t of_class = b.tensor_class(rank, replica);
  const Body& body = b.schedule.bodies.bodies[id];
  Work work;
  work.first_move = static_cast<std::uint32_t>(b.book.moves.size());
  double pending = 0;  // seconds that pass before the next flow
  for (std::size_t part = 0; part < body.parts.size(); ++part) {
    const std::vector<Segment>& segments = body.parts[part].segments;
    for (std::size_t turn = 0; turn < static_cast<std::size_t>(body.parts[part].repeat); ++turn) {
      for (std::size_t i = 0; i < segments.size(); ++i) {
        const SegmentTime& timed = b.body(rank, replica, id).segments[part][i];
        Played played{{timed.time.value, -1, 0}, timed.time.value};
        if (is_tensor_collective(segments[i])) {
          played = play_demand(b, of_class, tensor_demand(b.model(rank, replica), segments[i].collective, timed));
        }
        work.idle_s += played.idle_s;
        pending += played.move.seconds;
        if (played.move.path < 0) continue;
        b.book.moves.push_back({pending, played.move.path, played.move.units});
        pending = 0;
      }
    }
  }
  if (pending > 0 || b.book.moves.size() == work.first_move) b.book.moves.push_back({pending, -1, 0});
  work.moves = static_cast<std::uint32_t>(b.book.moves.size()) - work.first_move;
  const BodyTime& time = b.body(rank, replica, id);
  work.tensor_s = std::max(0.0, work.idle_s - (time.total.expected - time.exposed.tensor).value);
  work.inner = inner_of_body(b, time);
  return work;
}

Work work_of_kind(Builder& b, const OperationKind& kind, std::int32_t replica) {
  if (kind.op.body.valid() && network_matters(b, kind.rank, kind.op.body.index(), replica)) {
    return play_segments(b, kind.rank, kind.op.body.index(), replica);
  }
  Work work;
  work.first_move = static_cast<std::uint32_t>(b.book.moves.size());
  work.moves = 1;
  Move move;
  if (kind.op.body.valid()) {
    const BodyTime& time = b.body(kind.rank, replica, kind.op.body.index());
    work.idle_s = move.seconds = time.total.expected.value;
    work.tensor_s = time.exposed.tensor.value;
    work.inner = inner_of_body(b, time);
  } else if (kind.communicates) {
    const std::size_t of_class = b.class_of_kind(kind, replica);
    const Played played = play_demand(b, of_class, b.demand_of_kind(kind, replica));
    move = played.move;
    work.idle_s = played.idle_s;
    work.joint = b.classes[of_class].kind == TrafficKind::data && b.book.replicas > 1;
  }
  b.book.moves.push_back(move);
  return work;
}

}  // namespace

Playbook make_playbook(const Plan& plan, const Schedule& schedule, const LocalCosts& costs, const Topology& topology,
                       const TrafficSample& sample, bool folded) {
  Builder b{plan, schedule, costs, topology, folded, traffic_classes(plan, schedule, folded), {}, {}, {}, {}};
  b.book.replicas = replica_count(plan, folded);
  for (const TrafficClass& of_class : b.classes) {
    b.traffic.push_back(traffic_of(of_class, sample.plan, sample.topology));
    b.traffic.back().several_at_once = has_several_channels(of_class, schedule);
  }
  b.paths_by_cap.resize(b.classes.size());

  const OperationKinds operations = collect_operation_kinds(plan, schedule, costs.models.front(), topology);
  b.bottlenecks = find_bottlenecks(b.traffic, idle_rates(b, operations.kinds), sample.topology);
  b.book.links = b.bottlenecks.links;
  b.book.work_of.reserve(operations.of_node.size() * static_cast<std::size_t>(b.book.replicas));
  for (std::int32_t replica = 0; replica < b.book.replicas; ++replica) {
    const auto first = static_cast<std::uint32_t>(b.book.works.size());
    for (const OperationKind& kind : operations.kinds) b.book.works.push_back(work_of_kind(b, kind, replica));
    for (const std::uint32_t kind : operations.of_node) b.book.work_of.push_back(first + kind);
  }
  return std::move(b.book);
}

}  // namespace stagecraft
