#pragma once
// What sweep and merge write when the points are there.

#include "command_line.hpp"
#include "journal.hpp"

namespace stagecraft::cli {

struct SweepOutput {
  std::string format, output, svg;
};

/// Marks the front and writes the table, and the picture if one is asked for.
void write_points(const SweepIdentity& identity, std::vector<Point> points, const SweepOutput& where,
                  const Console& console);

/// --format, --output and --pareto.
void add_sweep_output(CLI::App& app, SweepOutput& where);

}  // namespace stagecraft::cli
