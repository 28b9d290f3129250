#pragma once
// The two halves of the picture of a cluster. Internal to the room.

#include <string>

#include "report/svg_canvas.hpp"
#include "topology/topology.hpp"

namespace stagecraft {

/// Fill of a device, stroke of a wire.
const char* paint_of(DeviceKind kind);
const char* paint_of(LinkKind kind);
inline constexpr const char* leaf_paint = "#b5536b";
inline constexpr const char* spine_paint = "#7d5aa6";

/// "300 GB/s", or "300 GB/s, 274 achieved" where they differ.
std::string rates(BytesPerSecond nominal, BytesPerSecond achieved);
std::string gigabytes(BytesPerSecond rate);  // without the unit: "31.5"

struct Extent {
  double width = 0, height = 0;
};

/// Draws with the upper left corner at `corner`; tells how much room it took.
Extent draw_node(SvgCanvas& canvas, const NodeSpec& node, Point corner);
Extent draw_fabric(SvgCanvas& canvas, const Topology& topology, Point corner);

}  // namespace stagecraft
