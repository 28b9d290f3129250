#pragma once
// How loaded every link was over a stretch of time.

#include <string>
#include <vector>

#include "gui/models/trace_rows.hpp"
#include "gui/models/trace_table.hpp"
#include "topology/topology.hpp"

namespace stagecraft::gui {

struct LinkLoad {
  std::string name;  // "node3/gpu0->nvswitch"
  LinkKind kind = LinkKind::nvlink;
  double bytes = 0;
  double mean_bytes_per_s = 0, peak_bytes_per_s = 0;
  double rate_bytes_per_s = 0;  // nominal, or the highest recorded if that is more; 0 if the topology has no such link
  double utilisation() const { return rate_bytes_per_s > 0 ? mean_bytes_per_s / rate_bytes_per_s : 0; }
};

/// Loads of the links that the trace has counters of, the most utilised first; of equal ones by name.
std::vector<LinkLoad> link_loads(const Topology& topology, const LoadedTrace& loaded, double begin_s, double end_s);

/// "Bottleneck: node0/nic0/up, 87 % of 23.1 GB/s over 1.2 ms (24 MB), 100 % at its peak." A link that is used less than
/// half is none, only the busiest that is counted. Says what is not counted, and why nothing is where that is so.
QString bottleneck_text(const std::vector<LinkLoad>& loads, double seconds, const LoadedTrace& loaded);

PlainTable link_table(const std::vector<LinkLoad>& loads);

/// A device and a wire of one node, from the names of its links.
struct NodeWire {
  std::string from, to;
};
std::vector<NodeWire> wires_of_node(const Topology& topology, std::int32_t node);  // one per link of its wiring

}  // namespace stagecraft::gui
