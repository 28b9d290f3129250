// The inside of a node: sockets on top, PCIe switches below, then GPUs and NICs side by side, and NVSwitches at the
// foot.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/topology_picture.hpp"

namespace stagecraft {
namespace {

constexpr double leaf_width = 58, leaf_height = 34, gap = 8, unit_gap = 26, row_height = 84;
constexpr std::size_t drawn_units = 8, drawn_at_front = 4;

using Device = std::size_t;
constexpr Device nobody = static_cast<Device>(-1);

/// The PCIe tree below each socket. Devices that no socket reaches are roots themselves.
struct Tree {
  const NodeSpec& node;
  std::map<std::string, Device> by_name;
  std::vector<Device> parent;
  std::vector<std::vector<Device>> children;
  std::vector<int> depth;
  std::vector<Device> roots;

  explicit Tree(const NodeSpec& spec) : node(spec) {
    const std::size_t count = node.devices.size();
    for (Device device = 0; device < count; ++device) by_name.emplace(node.devices[device].name, device);
    parent.assign(count, nobody);
    children.resize(count);
    depth.assign(count, -1);
    for (Device device = 0; device < count; ++device) {
      if (node.devices[device].kind == DeviceKind::cpu) grow_from(device);
    }
    for (Device device = 0; device < count; ++device) {
      if (depth[device] < 0 && node.devices[device].kind == DeviceKind::pcie_switch) grow_from(device);
    }
    for (Device device = 0; device < count; ++device) {
      if (depth[device] < 0 && node.devices[device].kind != DeviceKind::nvswitch) grow_from(device);
    }
    for (std::vector<Device>& below : children) {
      std::stable_sort(below.begin(), below.end(),
                       [&](Device a, Device b) { return node.devices[a].kind < node.devices[b].kind; });
    }
  }

  bool is_leaf(Device device) const {
    return node.devices[device].kind == DeviceKind::gpu || node.devices[device].kind == DeviceKind::nic;
  }
  void grow_from(Device root) {
    roots.push_back(root);
    depth[root] = 0;
    std::vector<Device> row{root};
    while (!row.empty()) {
      std::vector<Device> next;
      for (const Device at : row) {
        for (const WireSpec& wire : node.wires) {
          if (wire.kind != LinkKind::pcie || is_leaf(at)) continue;
          const Device from = by_name.at(wire.from), to = by_name.at(wire.to);
          if (from != at && to != at) continue;
          const Device other = from == at ? to : from;
          if (depth[other] >= 0 || node.devices[other].kind == DeviceKind::cpu) continue;
          depth[other] = depth[at] + 1;
          parent[other] = at;
          children[at].push_back(other);
          next.push_back(other);
        }
      }
      row = std::move(next);
    }
  }
};

struct Place {
  bool drawn = false;
  double x = 0, y = 0, width = 0;  // centre of the upper edge
};

class NodePicture {
 public:
  NodePicture(SvgCanvas& canvas, const NodeSpec& node, Point corner)
      : canvas_(canvas), node_(node), tree_(node), corner_(corner), places_(node.devices.size()) {}

  Extent draw() {
    for (const int depth : tree_.depth) deepest_ = std::max(deepest_, depth);
    place_units();
    place_switches();
    for (const WireSpec& wire : node_.wires) draw_wire(wire);
    for (Device device = 0; device < places_.size(); ++device) draw_device(device);
    const double leaves = row_y(deepest_) + leaf_height;
    const double foot = has_switch_ ? switch_y() + leaf_height : leaves + deepest_arc_;
    return {x_ - corner_.x, foot - corner_.y};
  }

 private:
  DeviceKind kind(Device device) const { return node_.devices[device].kind; }
  double row_y(int row) const { return corner_.y + highest_arc_ + row * row_height; }
  double switch_y() const { return row_y(deepest_) + row_height; }

  void place_units() {
    x_ = corner_.x;
    const std::size_t units = tree_.roots.size();
    highest_arc_ = sockets_ring() ? 26 : 0;
    for (std::size_t unit = 0; unit < units; ++unit) {
      const bool cut = units > drawn_units + 1;
      if (cut && unit >= drawn_at_front && unit < units - (drawn_units - drawn_at_front)) {
        if (unit == drawn_at_front) {
          canvas_.text({x_ + 40, row_y(deepest_) + leaf_height / 2 + 4},
                       fmt::format("… {} more …", units - drawn_units), {12, "#6b7280", "middle", false, false});
          x_ += 80 + unit_gap;
        }
        continue;
      }
      place(tree_.roots[unit]);
      x_ += unit_gap - gap;
    }
    x_ -= unit_gap;
  }

  /// Whether a link between sockets passes over another socket.
  bool sockets_ring() const {
    return std::any_of(node_.wires.begin(), node_.wires.end(), [&](const WireSpec& wire) {
      if (wire.kind != LinkKind::socket) return false;
      const auto place_of = [&](const std::string& name) {
        return std::find(tree_.roots.begin(), tree_.roots.end(), tree_.by_name.at(name)) - tree_.roots.begin();
      };
      return std::abs(place_of(wire.from) - place_of(wire.to)) > 1;
    });
  }

  void place(Device device) {
    Place& place_of = places_[device];
    place_of.drawn = true;
    if (tree_.children[device].empty()) {
      place_of.width = leaf_width;
      place_of.x = x_ + leaf_width / 2;
      x_ += leaf_width + gap;
    } else {
      const double first = x_;
      for (const Device child : tree_.children[device]) place(child);
      place_of.x = (first + x_ - gap) / 2;
      place_of.width = std::min(x_ - gap - first, kind(device) == DeviceKind::cpu ? 150.0 : 110.0);
    }
    place_of.y = row_y(tree_.is_leaf(device) ? deepest_ : tree_.depth[device]);
  }

  void place_switches() {
    std::vector<Device> switches;
    for (Device device = 0; device < places_.size(); ++device) {
      if (kind(device) == DeviceKind::nvswitch) switches.push_back(device);
    }
    has_switch_ = !switches.empty();
    const double room = (x_ - corner_.x) / static_cast<double>(std::max<std::size_t>(switches.size(), 1));
    for (std::size_t i = 0; i < switches.size(); ++i) {
      places_[switches[i]] = {true, corner_.x + (static_cast<double>(i) + 0.5) * room, switch_y(),
                              std::max(20.0, room - (switches.size() > 1 ? 12 : 0))};
    }
  }

  static std::string tooltip(const WireSpec& wire) {
    return fmt::format("{} – {}: {} {} each way, {}", wire.from, wire.to, to_text(wire.kind),
                       rates(wire.nominal, wire.achieved), to_text(wire.latency));
  }

  void draw_wire(const WireSpec& wire) {
    Device upper = tree_.by_name.at(wire.from), lower = tree_.by_name.at(wire.to);
    if (!places_[upper].drawn || !places_[lower].drawn) return;
    if (places_[upper].y > places_[lower].y) std::swap(upper, lower);
    const Place &a = places_[upper], &b = places_[lower];
    const std::string colour = paint_of(wire.kind);
    const double thickness = std::clamp(1.0 + wire.nominal.value * 1e-9 / 150, 1.2, 5.0);
    const std::string rate = gigabytes(wire.nominal);
    const TextStyleSvg label{8.5, "#374151", "middle", false, true};
    if (a.y == b.y) {
      draw_level(a, b, wire, thickness, rate, label);
      return;
    }
    // A bar is met straight below the device, a box in its middle.
    const double x =
        kind(lower) == DeviceKind::nvswitch ? std::clamp(a.x, b.x - b.width / 2 + 4, b.x + b.width / 2 - 4) : b.x;
    const double from_x = std::clamp(x, a.x - a.width / 2 + 6, a.x + a.width / 2 - 6);
    const Point from{from_x, a.y + leaf_height}, to{x, b.y};
    canvas_.line(from, to, colour, thickness, tooltip(wire));
    canvas_.text({(from.x + to.x) / 2, (from.y + to.y) / 2 + 3}, rate, label);
  }

  /// Two devices of one row: neighbours on top side by side, the others by an arc.
  void draw_level(const Place& a, const Place& b, const WireSpec& wire, double thickness, const std::string& rate,
                  const TextStyleSvg& label) {
    const Place &left = a.x < b.x ? a : b, &right = a.x < b.x ? b : a;
    const double distance = right.x - left.x, middle = (left.x + right.x) / 2;
    const std::string colour = paint_of(wire.kind);
    if (wire.kind == LinkKind::socket && highest_arc_ == 0) {
      const Point from{left.x + left.width / 2, left.y + leaf_height / 2}, to{right.x - right.width / 2, from.y};
      canvas_.line(from, to, colour, thickness, tooltip(wire));
      canvas_.text({middle, from.y + 3}, rate, label);
      return;
    }
    const bool above = wire.kind == LinkKind::socket;
    const double depth = above ? -22 : 10 + 0.15 * distance;
    if (!above) deepest_arc_ = std::max(deepest_arc_, depth + 8);
    const double y = left.y + (above ? 0 : leaf_height), inset = 8;
    canvas_.arc({left.x + inset, y}, {right.x - inset, y}, depth, colour, thickness, tooltip(wire));
    canvas_.text({middle, y + depth + 3}, rate, label);
  }

  void draw_device(Device device) {
    const Place& place = places_[device];
    if (!place.drawn) return;
    const DeviceSpec& spec = node_.devices[device];
    canvas_.box({place.x - place.width / 2, place.y}, place.width, leaf_height, {paint_of(spec.kind)}, spec.name,
                fmt::format("{} ({})", spec.name, to_text(spec.kind)));
  }

  SvgCanvas& canvas_;
  const NodeSpec& node_;
  Tree tree_;
  Point corner_;
  std::vector<Place> places_;
  double x_ = 0, deepest_arc_ = 0, highest_arc_ = 0;
  int deepest_ = 1;
  bool has_switch_ = false;
};

}  // namespace

Extent draw_node(SvgCanvas& canvas, const NodeSpec& node, Point corner) {
  return NodePicture(canvas, node, corner).draw();
}

}  // namespace stagecraft
