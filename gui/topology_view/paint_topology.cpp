#include "gui/topology_view/paint_topology.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "gui/timeline/row_raster.hpp"

namespace stagecraft::gui {
namespace {

constexpr double margin = 16, node_gap = 14, fabric_height = 34, device_height = 20, words_below = 18;
// Around the lines of devices of a node, and between them, where wires are told apart.
constexpr double node_head = 28, node_foot = 10, least_wire = 12, least_node_width = 150;

/// Devices of a kind share a line; lines from the fabric down.
int line_of(const std::string& device) {
  if (device.starts_with("nic") || device.starts_with("hca") || device.starts_with("mlx")) return 0;
  if (device.starts_with("cpu") || device.starts_with("socket")) return 1;
  if (device.starts_with("pcie") || device.starts_with("plx") || device.starts_with("host")) return 2;
  if (device.starts_with("gpu")) return 3;
  return 4;  // NVSwitches
}

std::int32_t node_of_link(const std::string& name) {
  std::int32_t node = -1;
  if (name.starts_with("node")) std::from_chars(name.data() + 4, name.data() + name.size(), node);
  return node;
}

/// "5" of "gpu5": all that a narrow box has room for.
QString number_in(const QString& device) {
  qsizetype begin = device.size();
  while (begin > 0 && device[begin - 1].isDigit()) --begin;
  return device.mid(begin);
}

/// Devices of a node by their line.
std::map<int, std::vector<std::string>> lines_of(const std::vector<NodeWire>& wires) {
  std::map<int, std::vector<std::string>> lines;
  std::set<std::string> seen;
  for (const NodeWire& wire : wires) {
    for (const std::string& device : {wire.from, wire.to}) {
      if (device == "fabric" || !seen.insert(device).second) continue;
      lines[line_of(device)].push_back(device);
    }
  }
  return lines;
}

bool has_fabric(const Topology& topology) {
  return topology.nics_per_node > 0 && topology.cluster.nodes > 1;
}

double nodes_top(const Topology& topology) {
  return margin + (has_fabric(topology) ? fabric_height + 2 * node_gap : 0);
}

/// Of the nodes that are drawn, the one with the most lines.
double least_node_height(const TopologyPicture& picture) {
  std::size_t most = 1;
  for (const std::int32_t node : picture.nodes)
    most = std::max(most, lines_of(wires_of_node(*picture.topology, node)).size());
  const auto lines = static_cast<double>(most);
  return node_head + node_foot + lines * device_height + (lines - 1) * least_wire;
}

class Picture {
 public:
  Picture(QPainter& painter, QSize size, const TopologyPicture& picture)
      : painter_(painter), size_(size), picture_(picture) {
    for (const LinkLoad& load : picture.loads) load_of_[load.name] = &load;
  }

  void draw() {
    painter_.fillRect(QRectF(QPointF(0, 0), QSizeF(size_)), QColor(picture_.palette.background));
    painter_.setFont(picture_.font);
    const bool with_fabric = has_fabric(*picture_.topology);
    const double top = nodes_top(*picture_.topology);
    fabric_ = QRectF(margin, margin, size_.width() - 2 * margin, fabric_height);
    const auto count = static_cast<int>(picture_.nodes.size());
    if (count == 0) return;
    const double width = size_.width() - 2 * margin,
                 height = std::max(80.0, size_.height() - top - margin - words_below);
    int columns = 1;
    while (columns < count && width / columns > 1.6 * height / std::ceil(static_cast<double>(count) / columns))
      ++columns;
    const double least = least_node_height(picture_) + node_gap;
    while (columns < count && (height + node_gap) / std::ceil(static_cast<double>(count) / columns) < least) ++columns;
    const int rows = (count + columns - 1) / columns;
    const QSizeF cell((width - (columns - 1) * node_gap) / columns, (height - (rows - 1) * node_gap) / rows);
    if (with_fabric) draw_fabric();
    for (int i = 0; i < count; ++i) {
      const QPointF corner(margin + (i % columns) * (cell.width() + node_gap),
                           top + (i / columns) * (cell.height() + node_gap));
      draw_node(picture_.nodes[static_cast<std::size_t>(i)], QRectF(corner, cell), with_fabric && i / columns == 0);
    }
    if (picture_.nodes_left_out > 0) {
      painter_.setPen(QColor(picture_.palette.faint_ink));
      painter_.drawText(QRectF(margin, size_.height() - margin - 14, width, words_below),
                        Qt::AlignRight | Qt::AlignVCenter,
                        QStringLiteral("%1 more nodes are not drawn").arg(picture_.nodes_left_out));
    }
  }

 private:
  double utilisation_of(const std::string& link) const {
    const auto found = load_of_.find(link);
    return found == load_of_.end() ? -1 : found->second->utilisation();
  }

  void draw_fabric() {
    const Palette& palette = picture_.palette;
    double most = -1;
    QString worst;
    for (const LinkLoad& load : picture_.loads) {
      if (node_of_link(load.name) >= 0 || load.utilisation() <= most) continue;
      most = load.utilisation();
      worst = QString::fromStdString(load.name);
    }
    box(fabric_, most);
    painter_.setPen(QColor(palette.ink));
    QString text = QString::fromStdString(to_text(picture_.topology->cluster.fabric.kind)) + QStringLiteral(" fabric");
    text.replace(QLatin1Char('_'), QLatin1Char('-'));
    if (most >= 0) text += QStringLiteral(": %1 at %2 %").arg(worst).arg(100 * most, 0, 'f', 0);
    painter_.drawText(fabric_, Qt::AlignCenter, text);
  }

  void box(QRectF rect, double utilisation) {
    painter_.setRenderHint(QPainter::Antialiasing, true);
    painter_.setPen(QPen(QColor(utilisation >= 0 ? load_color(picture_.palette, utilisation) : picture_.palette.grid),
                         utilisation >= 0.5 ? 2 : 1));
    painter_.setBrush(QColor(picture_.palette.row));
    painter_.drawRoundedRect(rect, 4, 4);
    painter_.setBrush(Qt::NoBrush);
  }

  void draw_node(std::int32_t node, QRectF area, bool to_fabric) {
    const Palette& palette = picture_.palette;
    painter_.setRenderHint(QPainter::Antialiasing, true);
    painter_.setPen(QPen(QColor(palette.grid), 1));
    painter_.setBrush(QColor(palette.header));
    painter_.drawRoundedRect(area, 6, 6);
    painter_.setBrush(Qt::NoBrush);
    const QRectF inner = area.adjusted(10, node_head, -10, -node_foot);
    const std::vector<NodeWire> wires = wires_of_node(*picture_.topology, node);
    const std::map<int, std::vector<std::string>> lines = lines_of(wires);
    std::map<std::string, QRectF> place;
    const double step = lines.size() > 1 ? (inner.height() - device_height) / static_cast<double>(lines.size() - 1) : 0;
    std::size_t line = 0;
    for (const auto& [kind, devices] : lines) {
      const double width = inner.width() / static_cast<double>(devices.size());
      for (std::size_t i = 0; i < devices.size(); ++i) {
        const double box_width = std::min(width - 4, kind == 4 ? 160.0 : 64.0);
        QRectF rect(0, 0, box_width, device_height);
        rect.moveCenter(QPointF(inner.left() + (static_cast<double>(i) + 0.5) * width,
                                inner.top() + device_height / 2 + static_cast<double>(line) * step));
        place[devices[i]] = rect;
      }
      ++line;
    }
    draw_wires(node, wires, place, to_fabric);
    for (const auto& [device, rect] : place) {
      box(rect, -1);
      painter_.setPen(QColor(device.starts_with("gpu") ? palette.ink : palette.faint_ink));
      const QString name = QString::fromStdString(device);
      const QFontMetricsF metrics(picture_.font);
      for (const QString& shown : {name, number_in(name)}) {
        if (metrics.horizontalAdvance(shown) >= rect.width() - 2) continue;
        painter_.drawText(rect, Qt::AlignCenter, shown);
        break;
      }
    }
    draw_name(node, area);
  }

  /// Over the wires that pass it.
  void draw_name(std::int32_t node, QRectF area) {
    QFont bold = picture_.font;
    bold.setWeight(QFont::DemiBold);
    painter_.setFont(bold);
    QString name = QStringLiteral("node %1").arg(node);
    const ClusterSpec& cluster = picture_.topology->cluster;
    if (!cluster.other_nodes.empty())
      name += QStringLiteral(": ") + QString::fromStdString(gpu_of_kind(cluster, kind_of_node(cluster, node)).name);
    const QRectF box(area.left() + 8, area.top() + 4, QFontMetricsF(bold).horizontalAdvance(name) + 6, 18);
    painter_.fillRect(box, QColor(picture_.palette.header));
    painter_.setPen(QColor(picture_.palette.ink));
    painter_.drawText(box.adjusted(2, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, name);
    painter_.setFont(picture_.font);
  }

  /// Both directions of a wire side by side, idle ones first so that loaded ones lie on top.
  void draw_wires(std::int32_t node, const std::vector<NodeWire>& wires, const std::map<std::string, QRectF>& place,
                  bool to_fabric) {
    struct Stroke {
      QLineF line;
      double utilisation;
    };
    std::vector<Stroke> strokes;
    const std::string prefix = "node" + std::to_string(node) + "/";
    const std::vector<Link>& links = wiring_of(*picture_.topology, NodeId(node)).node_links;
    for (std::size_t i = 0; i < wires.size(); ++i) {
      const NodeWire& wire = wires[i];
      const double utilisation = utilisation_of(prefix + links[i].name);
      const auto point = [&](const std::string& device, const std::string& other) {
        const auto at = place.find(device);
        if (at != place.end()) return at->second.center();
        return QPointF(place.at(other).center().x(), fabric_.bottom());
      };
      if ((wire.from == "fabric" || wire.to == "fabric") && !to_fabric) continue;
      QLineF line(point(wire.from, wire.to), point(wire.to, wire.from));
      if (line.length() < 1) continue;
      const QPointF aside = QPointF(line.normalVector().dx(), line.normalVector().dy()) / line.length() * 2;
      line.translate(aside);
      strokes.push_back({line, utilisation});
    }
    std::stable_sort(strokes.begin(), strokes.end(),
                     [](const Stroke& a, const Stroke& b) { return a.utilisation < b.utilisation; });
    const QRgb unknown = blended(picture_.palette.grid, picture_.palette.faint_ink, 0.25F);
    for (const Stroke& stroke : strokes) {
      const double width = stroke.utilisation < 0 ? 1 : 1.2 + 3.3 * std::min(stroke.utilisation, 1.0);
      const QRgb color = stroke.utilisation < 0 ? unknown : load_color(picture_.palette, stroke.utilisation);
      painter_.setPen(QPen(QColor(color), width, Qt::SolidLine, Qt::RoundCap));
      painter_.drawLine(stroke.line);
    }
  }

  QPainter& painter_;
  QSize size_;
  const TopologyPicture& picture_;
  std::map<std::string, const LinkLoad*> load_of_;
  QRectF fabric_;
};

}  // namespace

QRgb load_color(const Palette& palette, double utilisation) {
  const float part = static_cast<float>(std::clamp(utilisation, 0.0, 1.0));
  const QRgb warm = palette.fill[static_cast<std::size_t>(SliceClass::backward)];
  const QRgb idle = blended(palette.faint_ink, palette.background, 0.45F);
  return part < 0.5F ? blended(idle, warm, part * 2) : blended(warm, palette.limit, part * 2 - 1);
}

TopologyPicture make_topology_picture(const Topology& topology, const LoadedTrace* loaded, double begin_s, double end_s,
                                      std::size_t most) {
  TopologyPicture picture;
  picture.topology = &topology;
  std::set<std::int32_t> nodes;
  if (loaded != nullptr) {
    picture.loads = link_loads(topology, *loaded, begin_s, end_s);
    for (const TraceRank& rank : loaded->trace.ranks) nodes.insert(rank.node);
    for (const LinkLoad& load : picture.loads) {
      if (const std::int32_t node = node_of_link(load.name); node >= 0) nodes.insert(node);
    }
  }
  if (nodes.empty()) nodes.insert(0);
  for (const std::int32_t node : nodes) {
    if (picture.nodes.size() < most && node < topology.cluster.nodes) picture.nodes.push_back(node);
  }
  picture.nodes_left_out = topology.cluster.nodes - static_cast<std::int64_t>(picture.nodes.size());
  return picture;
}

int least_height(const TopologyPicture& picture, int width) {
  if (picture.topology == nullptr || picture.nodes.empty()) return 0;
  const auto count = static_cast<double>(picture.nodes.size());
  const double columns =
      std::clamp(std::floor((width - 2 * margin + node_gap) / (least_node_width + node_gap)), 1.0, count);
  const double rows = std::ceil(count / columns);
  return static_cast<int>(std::ceil(nodes_top(*picture.topology) + rows * (least_node_height(picture) + node_gap) -
                                    node_gap + margin + words_below));
}

double scale_that_fits(const TopologyPicture& picture, QSize size) {
  constexpr double step = 0.98, least = 0.1;
  double scale = 1;
  while (scale > least && scale * least_height(picture, static_cast<int>(size.width() / scale)) > size.height())
    scale *= step;
  return scale;
}

void paint_topology(QPainter& painter, QSize size, const TopologyPicture& picture) {
  if (picture.topology != nullptr) Picture(painter, size, picture).draw();
}

}  // namespace stagecraft::gui
