#pragma once
// Nodes with their devices and wires, coloured by how loaded they are.

#include <QPainter>
#include <vector>

#include "gui/models/trace_link_load.hpp"
#include "gui/timeline/palette.hpp"

namespace stagecraft::gui {

struct TopologyPicture {
  const Topology* topology = nullptr;
  std::vector<std::int32_t> nodes;  // that are drawn: those with traced ranks or loaded links
  std::int64_t nodes_left_out = 0;
  std::vector<LinkLoad> loads;  // the most utilised first
  Palette palette;
  QFont font;
};

/// Nodes of the trace's ranks and of its link counters, at most `most`; the first node if there is no trace.
TopologyPicture make_topology_picture(const Topology& topology, const LoadedTrace* loaded, double begin_s, double end_s,
                                      std::size_t most = 16);

/// In which the devices of a node stand clear of each other.
int least_height(const TopologyPicture& picture, int width);
/// At which the same holds in this size; at most 1.
double scale_that_fits(const TopologyPicture& picture, QSize size);

void paint_topology(QPainter& painter, QSize size, const TopologyPicture& picture);

/// Faint where a link is idle, through orange to the colour of limits where it is full.
QRgb load_color(const Palette& palette, double utilisation);

}  // namespace stagecraft::gui
