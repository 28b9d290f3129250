#include "sim/bottlenecks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stagecraft {
namespace {

/// One class on one link.
struct Use {
  LinkId link;
  std::int32_t traffic = 0;
  std::int64_t one = 0, all = 0;
};

/// Uses [first, last) of one link.
struct UsedLink {
  std::size_t first = 0, last = 0;
  LinkId link;
  double rate = 0;
};

std::vector<Use> uses_by_link(std::span<const ClassTraffic> traffic) {
  std::vector<Use> uses;
  for (std::size_t k = 0; k < traffic.size(); ++k) {
    for (const LinkUse& use : traffic[k].uses)
      uses.push_back({use.link, static_cast<std::int32_t>(k), use.one, use.all});
  }
  std::sort(uses.begin(), uses.end(),
            [](const Use& a, const Use& b) { return a.link != b.link ? a.link < b.link : a.traffic < b.traffic; });
  return uses;
}

/// What a link of the topology carries, without building its name.
struct Carried {
  double rate = 0;
  double left = 1;  // after faults
  bool in_node = true;
};

Carried carried_by(const Topology& topology, LinkId id) {
  const std::int64_t in_nodes = topology.cluster.nodes * topology.links_per_node;
  if (id.value >= in_nodes) {
    const Link trunk = link(topology, id);
    return {trunk.achieved.value, trunk.left, false};
  }
  const Link& found = wiring_of(topology, NodeId(id.value / topology.links_per_node))
                          .node_links[static_cast<std::size_t>(id.value % topology.links_per_node)];
  return {found.achieved.value, found.left, true};
}

std::vector<UsedLink> used_links(const std::vector<Use>& uses, std::span<const double> idle_rates,
                                 const Topology& topology) {
  std::vector<UsedLink> links;
  Carried carried;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (i == 0 || uses[i].link != uses[i - 1].link) {
      carried = carried_by(topology, uses[i].link);
      links.push_back({i, i, uses[i].link, carried.rate});
    }
    links.back().last = i + 1;
    // Calibration measured nodes and NICs; how flows meet on cables between switches is for the links to say.
    if (!carried.in_node) continue;
    const double alone = static_cast<double>(uses[i].one) * idle_rates[static_cast<std::size_t>(uses[i].traffic)];
    links.back().rate = std::max(links.back().rate, alone * carried.left);
  }
  return links;
}

/// Whether all classes at their idle rates fit on the link.
bool can_fill(const UsedLink& used, const std::vector<Use>& uses, std::span<const double> rates) {
  double sum = 0;
  for (std::size_t i = used.first; i < used.last; ++i) {
    sum += static_cast<double>(uses[i].all) * rates[static_cast<std::size_t>(uses[i].traffic)];
  }
  return sum > used.rate;
}

/// Orders links by the classes that cross them and how often, then by rate: the first of each kind is its bottleneck.
struct BySignature {
  const std::vector<Use>& uses;

  int compare(const UsedLink& a, const UsedLink& b) const {
    const std::size_t size_a = a.last - a.first, size_b = b.last - b.first;
    if (size_a != size_b) return size_a < size_b ? -1 : 1;
    for (std::size_t i = 0; i < size_a; ++i) {
      const Use& x = uses[a.first + i];
      const Use& y = uses[b.first + i];
      if (x.traffic != y.traffic) return x.traffic < y.traffic ? -1 : 1;
      if (x.all != y.all) return x.all < y.all ? -1 : 1;
    }
    return 0;
  }
  bool operator()(const UsedLink& a, const UsedLink& b) const {
    const int order = compare(a, b);
    if (order != 0) return order < 0;
    return a.rate != b.rate ? a.rate < b.rate : a.link < b.link;
  }
};

/// Crossings as small whole numbers: exact after division by their common factor, unless they differ by more than a
/// factor of 128; then the small ones are rounded to 1/128 of the largest.
void add_bottleneck(const UsedLink& used, const std::vector<Use>& uses, Bottlenecks& found) {
  constexpr double most = 128;
  std::int64_t common = 0, largest = 1;
  for (std::size_t i = used.first; i < used.last; ++i) {
    common = std::gcd(common, uses[i].all);
    largest = std::max(largest, uses[i].all);
  }
  const double scale = std::max(static_cast<double>(common), static_cast<double>(largest) / most);
  const auto index = static_cast<std::int32_t>(found.links.size());
  found.links.push_back({used.link, used.rate / scale, scale});
  for (std::size_t i = used.first; i < used.last; ++i) {
    const double crossings = std::max(1.0, std::round(static_cast<double>(uses[i].all) / scale));
    found.routes[static_cast<std::size_t>(uses[i].traffic)].crossings.push_back(
        {index, static_cast<std::int32_t>(crossings)});
  }
}

}  // namespace

Bottlenecks find_bottlenecks(std::span<const ClassTraffic> traffic, std::span<const double> idle_rates,
                             const Topology& topology) {
  const std::vector<Use> uses = uses_by_link(traffic);
  std::vector<UsedLink> links = used_links(uses, idle_rates, topology);

  Bottlenecks found;
  found.routes.resize(traffic.size());
  std::vector<double> rates(idle_rates.begin(), idle_rates.end());
  for (ClassRoute& route : found.routes) route.own_limit = std::numeric_limits<double>::infinity();
  // Each class alone is limited by every link that its own flows share, whoever else uses it.
  for (const UsedLink& used : links) {
    for (std::size_t i = used.first; i < used.last; ++i) {
      double& limit = found.routes[static_cast<std::size_t>(uses[i].traffic)].own_limit;
      limit = std::min(limit, used.rate / static_cast<double>(uses[i].all));
    }
  }
  for (std::size_t k = 0; k < traffic.size(); ++k) rates[k] = std::min(rates[k], found.routes[k].own_limit);

  std::erase_if(links, [&](const UsedLink& used) {
    bool queued = true;
    for (std::size_t i = used.first; i < used.last; ++i) {
      queued = queued && !traffic[static_cast<std::size_t>(uses[i].traffic)].several_at_once;
    }
    return queued && (used.last - used.first < 2 || !can_fill(used, uses, rates));
  });
  const BySignature by_signature{uses};
  std::sort(links.begin(), links.end(), by_signature);
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i > 0 && by_signature.compare(links[i - 1], links[i]) == 0) continue;
    add_bottleneck(links[i], uses, found);
  }
  return found;
}

}  // namespace stagecraft
