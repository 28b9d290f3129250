#pragma once
// Reads a trace from JSON: what write_chrome_json writes, and what PyTorch's profiler (Kineto) writes of a pipeline.

#include <string>

#include "trace/trace.hpp"

namespace stagecraft {

/// Key of the provenance of a Kineto file's trace: nanoseconds of the file's clock at which the trace begins. Files of
/// ranks whose clocks agree are laid over each other by it.
inline constexpr const char* clock_begin_key = "clock_begin_ns";

/// Throws InputError for anything but a whole file with operations in it, naming the event or the byte.
///
/// A file by write_chrome_json gives the trace that was written, but for its dependencies: only the arrows from sends
/// to receives, times in whole nanoseconds, and zero-length operations as they are.
///
/// Of a Kineto file, ranges named "PP:2F0" (torch/distributed/pipelining/schedules.py, _get_profiler_function_name) are
/// the operations; of several ranges for one operation those on the GPU are taken. Kernels within them become their
/// segments. What lies outside is left out and counted in the provenance. Its times begin at 0; "ProfilerStep#n" ranges
/// are the steps.
Trace read_chrome_json(const std::string& path);

}  // namespace stagecraft
