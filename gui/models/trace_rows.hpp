#pragma once
// A trace made ready to look at: its rows with their levels of detail, dependencies both ways, critical path, slack and
// memory curves. Immutable, built on any thread, no widgets.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/level_of_detail_rows.hpp"
#include "trace/summary.hpp"
#include "trace/trace.hpp"

namespace stagecraft::gui {

/// Memory of one rank over time, by class; the value of point i holds until point i + 1.
struct MemoryCurve {
  std::int32_t rank = 0;
  std::vector<std::string> classes;        // "parameters", ... in the order in which they are stacked
  std::vector<double> time_s;              // ascending, shared by all classes
  std::vector<std::vector<double>> bytes;  // [class][point]
  std::vector<double> total;               // [point]
  double end_s = 0;                        // how long the last value holds
  std::size_t peak = 0;                    // point of the largest total
};

/// Rate of one link over time.
struct LinkCurve {
  std::string name;  // "node0/nic0/up"
  std::vector<double> time_s, bytes_per_s;
};

struct LoadedTrace {
  std::string name;  // for titles: file or scenario
  Trace trace;
  std::vector<LaneRow> lanes;                // by (node, rank, lane, sub_lane)
  std::vector<std::uint32_t> row_of_span;    // index into lanes; no_span if a span has no length
  std::vector<std::uint32_t> slice_of_span;  // index into that lane's slices
  Predecessors before, after;                // neighbours of every span
  std::vector<std::uint32_t> critical;       // spans of the critical path of the last step, in the order of time
  std::vector<bool> is_critical;             // [span]
  Breakdown critical_s{};                    // where the time along it goes
  std::vector<float> slack_s;                // [span]: how much later it could end without delaying the step
  std::vector<MemoryCurve> memory;           // by rank
  std::vector<LinkCurve> links;              // by name
  double memory_limit_bytes = 0;             // usable memory of the GPU; 0 if unknown
};

/// Throws nothing; an empty trace gives no lanes. `cancel` may be null; once true the result is null.
std::unique_ptr<const LoadedTrace> make_loaded_trace(Trace trace, std::string name, double memory_limit_bytes = 0,
                                                     const std::atomic<bool>* cancel = nullptr);

}  // namespace stagecraft::gui
