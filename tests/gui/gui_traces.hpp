#pragma once
// Traces for the tests of the GUI, and the font that pictures are written in.

#include <QFont>
#include <memory>

#include "gui/models/trace_rows.hpp"

namespace stagecraft {

/// DejaVu Sans, 12 pixels, without hinting that differs between machines.
QFont test_font();

/// 1F1B of `ranks` stages and `micro_batches`: F takes 1 ms, B 2 ms, a message 0.1 ms; memory counters; one step.
Trace pipeline(int ranks, int micro_batches);
std::unique_ptr<const gui::LoadedTrace> pipeline_trace(int ranks, int micro_batches);

}  // namespace stagecraft
