// The fabric: nodes at the foot, their leaf switches above, the spine on top.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/topology_picture.hpp"

namespace stagecraft {
namespace {

constexpr double node_width = 118, node_height = 40, node_gap = 14, group_gap = 40, cut_width = 64, box_height = 30;
constexpr double spine_row = 0, below_spine = 92, below_leaf = 114;
constexpr std::size_t drawn_nics = 8;

/// Colours of rails, told apart side by side.
constexpr std::array rail_paints{"#d0762b", "#b5536b", "#7d5aa6", "#4a7fb5",
                                 "#3a9088", "#4f8f3a", "#9a8a2c", "#8d6e63"};

/// The first two and the last of more than four: -1 stands for the cut.
std::vector<std::int64_t> drawn_of(std::int64_t count) {
  if (count <= 4) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(i);
    return all;
  }
  return {0, 1, -1, count - 1};
}

class FabricPicture {
 public:
  FabricPicture(SvgCanvas& canvas, const Topology& topology, Point corner)
      : canvas_(canvas), topology_(topology), fabric_(topology.cluster.fabric), corner_(corner), x_(corner.x) {
    leaf_row_ = several_groups() ? below_spine : 0;
    node_row_ = leaf_row_ + below_leaf;
    nics_ = std::min<std::size_t>(drawn_nics, static_cast<std::size_t>(topology.nics_per_node));
  }

  Extent draw() {
    const bool one_switch = fabric_.kind == FabricKind::single_switch;
    const std::int64_t nodes = topology_.cluster.nodes;
    const std::int64_t per_group = one_switch ? nodes : std::max<std::int64_t>(1, fabric_.nodes_per_leaf_group);
    const std::int64_t groups = (nodes - 1) / per_group + 1;
    std::vector<double> middles;
    for (const std::int64_t group : drawn_of(groups)) {
      if (group < 0) {
        cut(fmt::format("… {} more groups …", groups - 3), leaf_row_ + box_height / 2, 150);
        continue;
      }
      middles.push_back(draw_group(group * per_group, std::min(per_group, nodes - group * per_group), group));
    }
    x_ -= group_gap;
    if (several_groups()) draw_spine();
    return {x_ - corner_.x, node_row_ + node_height + 26};
  }

 private:
  double y(double row) const { return corner_.y + row; }
  bool rails() const { return fabric_.kind == FabricKind::rail_optimised; }

  void cut(const std::string& words, double row, double width) {
    canvas_.text({x_ + width / 2, y(row) + 4}, words, {11, "#6b7280", "middle", false, false});
    x_ += width + group_gap;
  }

  /// A leaf group with its nodes; returns its middle.
  double draw_group(std::int64_t first_node, std::int64_t count, std::int64_t group) {
    const double left = x_;
    std::vector<std::pair<double, std::int64_t>> nodes;
    for (const std::int64_t node : drawn_of(count)) {
      if (node < 0) {
        canvas_.text({x_ + cut_width / 2, y(node_row_) + node_height / 2 + 4}, fmt::format("… {} …", count - 3),
                     {11, "#6b7280", "middle", false, false});
        x_ += cut_width + node_gap;
        continue;
      }
      nodes.emplace_back(x_, first_node + node);
      x_ += node_width + node_gap;
    }
    const double right = std::max(x_ - node_gap, left + 150);
    draw_leaves(left, right, group, nodes);
    for (const auto& [x, node] : nodes) draw_machine(x, node);
    x_ = right + group_gap;
    return (left + right) / 2;
  }

  /// Where a node has more NICs than are drawn.
  std::string cut_rails() const {
    const auto all = static_cast<std::size_t>(topology_.nics_per_node);
    return nics_ < all ? fmt::format(", {} of {} NICs drawn", nics_, all) : "";
  }

  Point port(double node_x, std::size_t nic) const {
    return {node_x + (static_cast<double>(nic) + 0.5) * node_width / static_cast<double>(nics_), y(node_row_)};
  }

  void draw_leaves(double left, double right, std::int64_t group,
                   const std::vector<std::pair<double, std::int64_t>>& nodes) {
    const std::size_t leaves = rails() ? nics_ : 1;
    const double room = (right - left) / static_cast<double>(leaves);
    const bool one_switch = fabric_.kind == FabricKind::single_switch;
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      const double x = left + static_cast<double>(leaf) * room + 2, width = room - 4;
      const double middle = x + width / 2;
      const std::string paint = rails() ? rail_paints[leaf % rail_paints.size()] : std::string(leaf_paint);
      for (const auto& [node_x, node] : nodes) {
        for (std::size_t nic = 0; nic < nics_; ++nic) {
          if (rails() && nic != leaf) continue;
          const Point from = port(node_x, nic);
          const double to = rails() ? middle : std::clamp(from.x, x + 4, x + width - 4);
          canvas_.line(from, {to, y(leaf_row_) + box_height}, rails() ? paint : paint_of(LinkKind::network), 1.4,
                       fmt::format("node {} NIC {}: {}", node, nic, rates(fabric_.nic_nominal, fabric_.nic_achieved)));
        }
      }
      if (several_groups()) draw_uplink(middle, group, leaf, paint);
      const std::string name = one_switch ? "switch"
                               : rails()  ? fmt::format("rail {}", leaf)
                                          : fmt::format("{} {}", flies() ? "switch" : "leaf", group);
      canvas_.box({x, y(leaf_row_)}, width, box_height, {paint}, name, name);
    }
    if (nodes.empty()) return;
    canvas_.text({nodes.front().first + node_width / 2, (y(leaf_row_) + box_height + y(node_row_)) / 2 + 3},
                 fmt::format("{} × {}", topology_.nics_per_node, to_text(fabric_.nic_nominal)),
                 {9, "#374151", "middle", false, true});
    if (!one_switch) {
      canvas_.text({left, y(node_row_) + node_height + 16}, fmt::format("leaf group {}{}", group, cut_rails()),
                   {10, "#6b7280", "start", false, false});
    }
  }

  bool several_groups() const {
    return fabric_.kind != FabricKind::single_switch && topology_.cluster.nodes > fabric_.nodes_per_leaf_group;
  }

  bool flies() const { return fabric_.kind == FabricKind::dragonfly; }

  BytesPerSecond uplink() const {
    if (flies())
      return fabric_.local_rate * static_cast<double>(std::max<std::int64_t>(1, fabric_.switches_per_group - 1));
    const double nics = static_cast<double>(fabric_.nodes_per_leaf_group) * (rails() ? 1 : topology_.nics_per_node);
    return fabric_.nic_nominal * nics / fabric_.oversubscription;
  }

  void draw_uplink(double x, std::int64_t group, std::size_t leaf, const std::string& paint) {
    canvas_.line({x, y(leaf_row_)}, {x, y(spine_row) + box_height}, paint, 3.2,
                 fmt::format("leaf group {} rail {}: {} up", group, leaf, to_text(uplink())));
    if (leaf != 0) return;
    canvas_.text({x, (y(leaf_row_) + y(spine_row) + box_height) / 2 + 3}, to_text(uplink()),
                 {9, "#374151", "middle", false, true});
  }

  void draw_spine() {
    std::string name = fabric_.oversubscription > 1
                           ? fmt::format("spine, {:g}:1 oversubscribed", fabric_.oversubscription)
                           : "spine, non-blocking";
    if (flies())
      name = fmt::format("groups of {} switches, {} between two of a group, {} between two groups",
                         fabric_.switches_per_group, to_text(fabric_.local_rate), to_text(fabric_.global_rate));
    if (fabric_.routing == Routing::fixed) name += "; a flow keeps to one cable";
    canvas_.box({corner_.x, y(spine_row)}, x_ - corner_.x, box_height, {spine_paint}, name, name);
  }

  void draw_machine(double x, std::int64_t node) {
    const std::string name = fmt::format("node {}", node);
    canvas_.box({x, y(node_row_)}, node_width, node_height, {"#eef2e9", "#4f8f3a", 5, "#27401d"}, name,
                fmt::format("{}: {} GPUs, {} NICs", name, topology_.gpus_per_node, topology_.nics_per_node));
    for (std::size_t nic = 0; nic < nics_; ++nic) {
      const Point at = port(x, nic);
      canvas_.box({at.x - 4, at.y - 4}, 8, 8,
                  {rails() ? rail_paints[nic % rail_paints.size()] : paint_of(DeviceKind::nic), "#ffffff", 1.5}, "");
    }
  }

  SvgCanvas& canvas_;
  const Topology& topology_;
  const FabricSpec& fabric_;
  Point corner_;
  double x_ = 0, leaf_row_ = 0, node_row_ = 0;
  std::size_t nics_ = 0;
};

}  // namespace

Extent draw_fabric(SvgCanvas& canvas, const Topology& topology, Point corner) {
  return FabricPicture(canvas, topology, corner).draw();
}

}  // namespace stagecraft
