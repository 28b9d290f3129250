#include "sweep_output.hpp"

#include "base/file_io.hpp"

namespace stagecraft::cli {

void write_points(const SweepIdentity& identity, std::vector<Point> points, const SweepOutput& where,
                  const Console& console) {
  mark_front(points, objectives_of(identity.objectives));
  const PointTable table{identity.scenario, identity.kind,       identity.fixed,
                         identity.axes,     identity.objectives, std::move(points)};
  const std::string text = where.format == "csv"    ? points_csv(table)
                           : where.format == "json" ? points_json(table)
                                                    : points_markdown(table);
  if (!where.svg.empty()) write_output(console, where.svg, front_svg(table));
  write_output(console, where.output, text);
}

void add_sweep_output(CLI::App& app, SweepOutput& where) {
  add_format(app, where.format, {"md", "csv", "json"});
  add_output(app, where.output);
  app.add_option("--pareto", where.svg, "Write a scatter of the first two objectives with the Pareto front, as SVG")
      ->type_name("FILE");
}

}  // namespace stagecraft::cli
