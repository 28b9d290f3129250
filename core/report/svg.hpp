#pragma once
// A timeline as SVG: a row per rank, thin rows for communication, bubbles hatched.

#include <string>

#include "trace/trace.hpp"

namespace stagecraft {

struct SvgOptions {
  int width = 1600;           // of the picture, in pixels
  bool communication = true;  // rows for lanes other than compute
  std::string unit = "s";     // of the time axis; "" for schedules without a unit
};

/// The size of the text is bounded by rows x width: what is narrower than a pixel is merged into the kind of operation
/// that fills most of the pixel.
std::string timeline_svg(const Trace& trace, const SvgOptions& options);

}  // namespace stagecraft
