#include "cost/collective_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "cost/measured_range.hpp"
#include "schedule/experts.hpp"

namespace stagecraft {
namespace {

/// The law's name in a calibration; what has none of its own takes that of a broadcast.
const char* law_word(CollectiveKind kind) {
  const bool point_to_point = kind == CollectiveKind::exchange || is_host_copy(kind);
  return to_text(point_to_point ? CollectiveKind::broadcast : kind);
}

// What a node does with its own links.
struct Inside {
  double latency_s = 0;
  double sqrt_s = 0;                                     // s per sqrt(byte)
  double bus = 0;                                        // bytes/s
  double low_latency_s = 0, low_latency_s_per_byte = 0;  // the protocol for small sizes; rate 0: none
  double error = 0;
  Evidence evidence = Evidence::borrowed;
  MeasuredRange sizes;  // that the evidence is of, in bytes
  const char* algorithm = "ring";
};

// NVSwitch reduces in the switch from Hopper on, if at least `nvls_ranks` GPUs take part.
const CollectiveProfile* measured_inside(CollectiveKind kind, const GroupShape& shape, const Calibration& calibration) {
  const CollectiveProfile* const law = law_inside(kind, calibration);
  if (law == nullptr || law->links != shape.inside) return nullptr;
  if (law->ranks.holds(shape.ranks_per_node) || kind != CollectiveKind::all_reduce) return law;
  // Too few ranks for the measured algorithm: an all-reduce is then a reduce-scatter and an all-gather in turn.
  const auto ring = calibration.collectives.find("node/all_gather");
  return ring == calibration.collectives.end() ? law : &ring->second;
}

/// Rate of the GPUs' links over that of the machine that the law was measured on. Bus bandwidths go with it; labels of
/// the same links differ by roundings.
double link_ratio(const CollectiveProfile& law, const GroupShape& shape) {
  constexpr double rounding = 0.01;
  if (law.link_GBps == 0 || shape.links_of_gpu.value == 0) return 1;
  const double ratio = shape.links_of_gpu.value / (law.link_GBps * 1e9);
  return std::abs(ratio - 1) <= rounding ? 1 : ratio;
}

Inside inside_of(CollectiveKind kind, const GroupShape& shape, const Calibration& calibration) {
  Inside inside;
  if (const CollectiveProfile* profile = measured_inside(kind, shape, calibration); profile != nullptr) {
    const double measured_ranks = profile->ranks.stated() ? profile->ranks.max : 8;
    inside.latency_s = profile->latency_us.value * 1e-6;
    inside.sqrt_s = profile->sqrt_us_per_byte.value * 1e-6 *
                    std::sqrt(std::min(1.0, (shape.ranks_per_node - 1) / std::max(1.0, measured_ranks - 1)));
    const double ratio = link_ratio(*profile, shape);
    inside.bus = profile->bus_GBps.value * 1e9 * shape.left * ratio;
    inside.low_latency_s = profile->low_latency_us.value * 1e-6;
    inside.low_latency_s_per_byte = profile->low_latency_us_per_MB.value * 1e-12 / (shape.left * ratio);
    inside.error = profile->bus_GBps.relative_error;
    const bool as_measured = profile->ranks.holds(shape.ranks_per_node) && ratio == 1;
    inside.evidence = as_measured ? profile->bus_GBps.evidence : Evidence::borrowed;
    inside.sizes = profile->bytes;
    return inside;
  }
  const Constant& efficiency =
      constant(calibration, shape.staged_through_host ? "host_staging_efficiency" : "ring_efficiency");
  inside.latency_s = constant(calibration, "collective_latency_us").value * 1e-6;
  inside.bus = shape.intra_achieved.value * efficiency.value;
  inside.error = efficiency.relative_error;
  inside.evidence = efficiency.evidence;
  return inside;
}

CollectiveTime result(double expected, double latency, double error, Evidence evidence, double wire,
                      const char* algorithm) {
  CollectiveTime time;
  time.total = {{expected}, {expected * (1 - error)}, {expected * (1 + error)}, evidence};
  time.latency = {latency};
  time.wire_bytes = {wire};
  time.algorithm = algorithm;
  time.shared = {expected};
  return time;
}

// What the ranks of one node do of a collective across nodes.
Inside node_part(CollectiveKind kind, const GroupShape& shape, const Calibration& calibration) {
  if (shape.ranks_per_node > 1) return inside_of(kind, shape, calibration);
  Inside alone;
  const Constant& latency = constant(calibration, "collective_latency_us");
  alone.latency_s = latency.value * 1e-6;
  alone.evidence = latency.evidence;
  return alone;
}

struct Candidate {
  double latency_s, bus;
  const char* algorithm;
};

CollectiveTime across_nodes(CollectiveKind kind, double bytes, const GroupShape& shape,
                            const Calibration& calibration) {
  const Inside inside = node_part(kind, shape, calibration);
  const Constant& nic_efficiency = constant(calibration, "nic_ring_efficiency");
  const double factor = bus_factor(kind, shape.ranks);
  const double nodes = shape.nodes;
  const auto bus_with = [&](double nic_share) {
    const double nics = shape.inter_achieved.value * nic_efficiency.value / nic_share;
    return inside.bus > 0 ? std::min(inside.bus, nics) : nics;
  };
  const auto time_with = [&](double nic_share, const FabricShare& fabric, const Candidate& candidate) {
    const double bus = bus_with(nic_share) * candidate.bus;
    return candidate.latency_s + std::max(bytes * factor / bus, bytes * factor * fabric.ring);
  };
  const double hop = constant(calibration, "inter_hop_us").value * 1e-6;
  const bool reduces = kind == CollectiveKind::all_reduce;
  const double levels = std::ceil(std::log2(nodes));
  std::array<Candidate, 3> candidates{
      Candidate{inside.latency_s + (reduces ? 2 : 1) * (nodes - 1) * hop, 1, "ring"},
      Candidate{inside.latency_s + levels * constant(calibration, "inter_level_us").value * 1e-6, 1, "tree"},
      Candidate{inside.latency_s + levels * constant(calibration, "inter_level_small_us").value * 1e-6,
                constant(calibration, "inter_small_bus_fraction").value, "tree, low latency"}};
  const std::size_t usable = reduces ? candidates.size() : 1;
  double best = 0, shared = 0, latency = 0;
  const char* algorithm = "ring";
  for (std::size_t i = 0; i < usable; ++i) {
    const double alone = time_with(1, shape.fabric_alone, candidates[i]);
    const double together = time_with(shape.nic_sharers, shape.fabric_shared, candidates[i]);
    if (i == 0 || alone < best) {
      best = alone;
      latency = candidates[i].latency_s;
      algorithm = candidates[i].algorithm;
    }
    if (i == 0 || together < shared) shared = together;
  }
  // No trunk was measured. One that just carries what the NICs send does not count, however the division is rounded.
  const bool behind_trunks = shape.fabric_shared.ring * bus_with(shape.nic_sharers) > 1 + 1e-9;
  const Evidence evidence = behind_trunks ? Evidence::borrowed : std::max(inside.evidence, nic_efficiency.evidence);
  CollectiveTime time =
      result(best, latency, std::max(inside.error, nic_efficiency.relative_error), evidence, bytes * factor, algorithm);
  time.shared = {shared};
  return time;
}

// What leaves a GPU leaves through its own share of the NICs, beside what its node's links carry.
CollectiveTime all_to_all_across_nodes(const Collective& collective, const GroupShape& shape,
                                       const Calibration& calibration) {
  const Inside inside = node_part(CollectiveKind::all_to_all, shape, calibration);
  const bool deduplicated = collective.copies > 1;
  const Constant& reached = constant(calibration, deduplicated ? "deduplicated_nic_efficiency" : "nic_ring_efficiency");
  const AllToAllSpread spread = spread_of(collective, shape);
  const double bytes = collective.bytes.value;
  const double nic = shape.crossing_achieved.value / shape.crossing_ranks * reached.value;
  const double within = inside.bus > 0 ? bytes * spread.inside / inside.bus : 0;
  const double latency = inside.latency_s + constant(calibration, "inter_hop_us").value * 1e-6;
  const auto with_sharers = [&](double sharers, const FabricShare& fabric) {
    const double sent = bytes * spread.across;
    return latency + std::max({within, sent / (nic / sharers), sent * fabric.all_to_all});
  };
  CollectiveTime time =
      result(with_sharers(1, shape.fabric_alone), latency, std::max(inside.error, reached.relative_error),
             Evidence::borrowed, bytes * (spread.across + spread.inside), deduplicated ? "deduplicated" : "pairwise");
  time.shared = {with_sharers(shape.nic_sharers, shape.fabric_shared)};
  return time;
}

CollectiveTime inside_node(const Collective& collective, const GroupShape& shape, const Calibration& calibration) {
  Inside inside = inside_of(collective.kind, shape, calibration);
  const bool deduplicated = collective.kind == CollectiveKind::all_to_all && collective.copies > 1;
  const double factor = bus_factor(collective.kind, shape.ranks);
  // Bytes of an all-to-all that puts as much on the links.
  const double bytes = collective.bytes.value * (deduplicated ? spread_of(collective, shape).inside / factor : 1);
  if (!inside.sizes.holds(bytes)) inside.evidence = Evidence::borrowed;
  const double wire = bytes * factor;
  const double latency = inside.latency_s + inside.sqrt_s * std::sqrt(bytes);
  const double large = latency + wire / inside.bus;
  const double small = inside.low_latency_s + bytes * inside.low_latency_s_per_byte;
  if (inside.low_latency_s_per_byte > 0 && small < large) {
    return result(small, inside.low_latency_s, inside.error, inside.evidence, wire, "ring, low latency");
  }
  return result(large, latency, inside.error, inside.evidence, wire, inside.algorithm);
}

}  // namespace

const CollectiveProfile* law_inside(CollectiveKind kind, const Calibration& calibration) {
  const auto found = calibration.collectives.find(std::string("node/") + law_word(kind));
  return found == calibration.collectives.end() ? nullptr : &found->second;
}

AllToAllSpread spread_of(const Collective& collective, const GroupShape& shape) {
  const double ranks = shape.ranks, nodes = shape.nodes, here = shape.ranks_per_node, crossing = shape.crossing_ranks;
  if (collective.reduced_in_node) return {(nodes - 1) / nodes / crossing, (here - 1) / here};
  if (collective.copies < 2) return {nodes > 1 ? (ranks - crossing) / ranks : 0, (here - 1) / ranks};
  const double copies = collective.copies;
  const auto places = [&](double among) { return distinct_places(among, copies) / copies; };
  const double among = collective.most_nodes > 0 ? std::min(nodes, static_cast<double>(collective.most_nodes)) : nodes;
  return {places(among) * (nodes - 1) / nodes, places(among * here) * (here - 1) / here};
}

double bus_factor(CollectiveKind kind, std::int32_t ranks) {
  const double n = ranks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return (n - 1) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::exchange:
    case CollectiveKind::host_copy:
    case CollectiveKind::nvme_copy:
      break;
  }
  return 1;
}

CollectiveTime collective_time(const Collective& collective, const GroupShape& shape, const Calibration& calibration) {
  const double bytes = collective.bytes.value;
  if (shape.ranks < 2 || bytes <= 0) return result(0, 0, 0, Evidence::measured, 0, "none");
  const bool all_to_all = collective.kind == CollectiveKind::all_to_all;
  if (shape.nodes > 1) {
    return all_to_all ? all_to_all_across_nodes(collective, shape, calibration)
                      : across_nodes(collective.kind, bytes, shape, calibration);
  }
  return inside_node(collective, shape, calibration);
}

TimeEstimate with_siblings(const CollectiveTime& time) {
  const double alone_s = time.total.expected.value;
  const double factor = alone_s > 0 ? time.shared.value / alone_s : 1;
  return {time.total.expected * factor, time.total.low * factor, time.total.high * factor, time.total.evidence};
}

CollectiveTime collective_time(CollectiveKind kind, Bytes bytes, const GroupShape& shape,
                               const Calibration& calibration) {
  Collective collective;
  collective.kind = kind;
  collective.bytes = bytes;
  return collective_time(collective, shape, calibration);
}

CollectiveTime transfer_time(Bytes bytes, const Route& route, const Calibration& calibration) {
  if (route.links.empty() || bytes.value <= 0) return result(0, 0, 0, Evidence::measured, 0, "none");
  const char* rate_name = route.staged_through_host ? "host_staging_efficiency" : "transfer_efficiency";
  const Constant& efficiency = constant(calibration, rate_name);
  const double latency = constant(calibration, "transfer_latency_us").value * 1e-6 + route.latency.value;
  const double expected = latency + bytes.value / (route.bottleneck.value * efficiency.value);
  return result(expected, latency, efficiency.relative_error, efficiency.evidence, bytes.value, "send");
}

}  // namespace stagecraft
