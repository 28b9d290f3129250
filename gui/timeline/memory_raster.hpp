#pragma once
// Memory of a rank over time as pixels, stacked by class.

#include "gui/models/trace_rows.hpp"
#include "gui/timeline/palette.hpp"
#include "gui/timeline/row_raster.hpp"
#include "gui/timeline/time_axis.hpp"
#include "gui/timeline/view_geometry.hpp"

namespace stagecraft::gui {

/// Index into Palette::memory of a class.
std::size_t memory_color(const std::string& memory_class);

/// A column shows the state of its highest point, so no peak is lost at any zoom. Times are those of the columns minus
/// `shift_s`.
void raster_memory(const RowTarget& target, const MemoryCurve& curve, const TimeAxis& axis, double shift_s, int columns,
                   const MemoryScale& scale, const Palette& palette, QRgb background);

/// Where and why memory is highest: "61.2 GiB at 12.4 ms: activations 40.1 GiB, optimizer states 12 GiB, ...".
std::string peak_text(const MemoryCurve& curve);
std::string bytes_text(double bytes);  // "61.2 GiB"

}  // namespace stagecraft::gui
