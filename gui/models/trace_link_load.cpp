#include "gui/models/trace_link_load.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "gui/models/trace_counters.hpp"
#include "gui/timeline/time_axis.hpp"

namespace stagecraft::gui {
namespace {

std::string rate_text(double bytes_per_s) {
  constexpr std::array<const char*, 5> units = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  std::size_t unit = 0;
  while (bytes_per_s >= 1000 && unit + 1 < units.size()) {
    bytes_per_s /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes_per_s, units[unit]);
}

std::string amount_text(double bytes) {
  std::string text = rate_text(bytes);
  return text.substr(0, text.size() - 2);
}

constexpr double least_of_a_bottleneck = 0.5;  // of a link's rate

/// The value of the note that a simulation with link counters leaves; "" without it.
std::string uncounted_keys(const Trace& trace) {
  for (const Provenance& one : trace.provenance) {
    if (one.key == uncounted_key) return one.value;
  }
  return {};
}

QString no_counters_text(const LoadedTrace& loaded) {
  if (loaded.trace.kind == "measured") return QStringLiteral("A measurement holds no loads of links.");
  if (loaded.trace.kind == "estimated")
    return QStringLiteral(
        "The closed form counts no links; a simulation counts those that several kinds of traffic share.");
  const std::string keys = uncounted_keys(loaded.trace);
  if (keys.empty()) return QStringLiteral("The trace holds no link counters.");
  return keys == "none" ? QStringLiteral("Nothing is sent over a link in this step.")
                        : QStringLiteral("No two kinds of traffic share a link in this step, so none is counted.");
}

/// " Tensor-parallel communication (25.7 % of the critical path) has its links to itself and is not counted."
QString uncounted_text(const LoadedTrace& loaded) {
  const std::string keys = ',' + uncounted_keys(loaded.trace) + ',';
  const double whole = total(loaded.critical_s);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < time_class_count; ++i) {
    const auto of = static_cast<TimeClass>(i);
    if (keys.find(fmt::format(",{},", key_of(of))) == std::string::npos) continue;
    std::string_view name = to_text(of);
    constexpr std::string_view exposed = "exposed ";
    if (name.starts_with(exposed)) name.remove_prefix(exposed.size());
    const double part = whole > 0 ? loaded.critical_s[i] / whole : 0;
    names.push_back(part >= 0.0005 ? fmt::format("{} ({:.1f} % of the critical path)", name, 100 * part)
                                   : std::string(name));
  }
  if (names.empty()) return {};
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  const bool one = names.size() == 1 && !keys.starts_with(",host_copies");
  return QString::fromStdString(" " + text) +
         (one ? QStringLiteral(" has its links to itself and is not counted.")
              : QStringLiteral(" have their links to themselves and are not counted."));
}

/// Rates of the links that a name can mean: those of a node and the trunks between leaves.
class Rates {
 public:
  explicit Rates(const Topology& topology) : topology_(topology) {
    const std::int64_t first = topology.cluster.nodes * topology.links_per_node;
    for (std::int64_t id = first; id < link_count(topology); ++id) {
      const Link trunk = link(topology, LinkId(static_cast<std::int32_t>(id)));
      trunks_.emplace(trunk.name, trunk);
    }
  }

  std::optional<Link> find(const std::string& name) const {
    if (const auto trunk = trunks_.find(name); trunk != trunks_.end()) return trunk->second;
    const std::size_t slash = name.find('/');
    if (!name.starts_with("node") || slash == std::string::npos) return std::nullopt;
    std::int32_t node = -1;
    std::from_chars(name.data() + 4, name.data() + slash, node);
    if (node < 0 || node >= topology_.cluster.nodes) return std::nullopt;
    const std::vector<Link>& links = wiring_of(topology_, NodeId(node)).node_links;
    const auto link = std::find_if(links.begin(), links.end(), [&](const Link& each) {
      return std::string_view(name).substr(slash + 1) == each.name;
    });
    return link == links.end() ? std::nullopt : std::optional(*link);
  }

 private:
  const Topology& topology_;
  std::map<std::string, Link> trunks_;
};

}  // namespace

std::vector<LinkLoad> link_loads(const Topology& topology, const LoadedTrace& loaded, double begin_s, double end_s) {
  const Rates rates(topology);
  std::vector<LinkLoad> loads;
  for (const LinkCurve& curve : loaded.links) {
    LinkLoad load;
    load.name = curve.name;
    if (const auto link = rates.find(curve.name)) {
      load.kind = link->kind;
      load.rate_bytes_per_s = link->nominal.value;
    }
    // A switch that reduces on the way delivers more than the wire carries; what was recorded was possible.
    const double highest = *std::max_element(curve.bytes_per_s.begin(), curve.bytes_per_s.end());
    if (load.rate_bytes_per_s > 0) load.rate_bytes_per_s = std::max(load.rate_bytes_per_s, highest);
    load.bytes = bytes_between(curve, begin_s, end_s);
    load.mean_bytes_per_s = end_s > begin_s ? load.bytes / (end_s - begin_s) : 0;
    std::size_t i = point_at(curve.time_s, begin_s);
    for (i = i == curve.time_s.size() ? 0 : i; i < curve.time_s.size() && curve.time_s[i] < end_s; ++i) {
      load.peak_bytes_per_s = std::max(load.peak_bytes_per_s, curve.bytes_per_s[i]);
    }
    loads.push_back(std::move(load));
  }
  std::stable_sort(loads.begin(), loads.end(), [](const LinkLoad& a, const LinkLoad& b) {
    return a.utilisation() != b.utilisation() ? a.utilisation() > b.utilisation() : a.name < b.name;
  });
  return loads;
}

QString bottleneck_text(const std::vector<LinkLoad>& loads, double seconds, const LoadedTrace& loaded) {
  const QString uncounted = uncounted_text(loaded);
  if (loads.empty()) return no_counters_text(loaded) + uncounted;
  const LinkLoad& worst = loads.front();
  if (worst.bytes <= 0)
    return QStringLiteral("Nothing moved over the links that are counted in this time.") + uncounted;
  const char* const title = worst.utilisation() >= least_of_a_bottleneck ? "Bottleneck" : "Busiest counted link";
  std::string text = fmt::format("{}: {}, {:.0f} % of {} over {} ({})", title, worst.name, 100 * worst.utilisation(),
                                 rate_text(worst.rate_bytes_per_s), duration_text(seconds), amount_text(worst.bytes));
  if (worst.rate_bytes_per_s > 0)
    text += fmt::format(", {:.0f} % at its peak", 100 * worst.peak_bytes_per_s / worst.rate_bytes_per_s);
  return QString::fromStdString(text + ".") + uncounted;
}

PlainTable link_table(const std::vector<LinkLoad>& loads) {
  PlainTable table;
  table.headers = {QStringLiteral("link"), QStringLiteral("kind"),        QStringLiteral("bytes"),
                   QStringLiteral("mean"), QStringLiteral("utilisation"), QStringLiteral("peak")};
  table.explanations = {
      QStringLiteral("one direction of a wire, a NIC port or a trunk"),
      {},
      QStringLiteral("moved in the selected time"),
      QStringLiteral("bytes over the selected time"),
      QStringLiteral("mean over the nominal rate of the link, or over the highest recorded one where that is more"),
      QStringLiteral("highest rate in the selected time, over the same")};
  table.word_columns = 2;
  for (const LinkLoad& load : loads) {
    const double peak = load.rate_bytes_per_s > 0 ? load.peak_bytes_per_s / load.rate_bytes_per_s : 0;
    const auto percent = [](double part) {
      return Cell{QString::fromStdString(fmt::format("{:.1f} %", 100 * part)), part, true};
    };
    table.lines.push_back({{QString::fromStdString(load.name), {}, false},
                           {QString::fromStdString(to_text(load.kind)), {}, false},
                           {QString::fromStdString(amount_text(load.bytes)), load.bytes, true},
                           {QString::fromStdString(rate_text(load.mean_bytes_per_s)), load.mean_bytes_per_s, true},
                           percent(load.utilisation()),
                           percent(peak)});
  }
  return table;
}

std::vector<NodeWire> wires_of_node(const Topology& topology, std::int32_t node) {
  std::vector<NodeWire> wires;
  for (const Link& link : wiring_of(topology, NodeId(node)).node_links) {
    const std::size_t arrow = link.name.find("->"), slash = link.name.rfind('/');
    if (arrow != std::string::npos) {
      wires.push_back({link.name.substr(0, arrow), link.name.substr(arrow + 2)});
    } else if (slash != std::string::npos) {
      const std::string nic = link.name.substr(0, slash);
      const bool up = link.name.substr(slash + 1) == "up";
      wires.push_back(up ? NodeWire{nic, "fabric"} : NodeWire{"fabric", nic});
    }
  }
  return wires;
}

}  // namespace stagecraft::gui
