#pragma once
// Opening any trace that the program understands.

#include <string>

#include "trace/trace.hpp"

namespace stagecraft::gui {

/// A native trace (by its first bytes), else Chrome or Kineto JSON. Throws InputError.
Trace read_any_trace(const std::string& path);

/// All traces of a folder as one, as ranks of a cluster write them: their ranks have to differ, their times are laid
/// so that all begin at once. Throws InputError, also if there is none.
Trace read_trace_folder(const std::string& path);

}  // namespace stagecraft::gui
