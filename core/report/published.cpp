#include "report/published.hpp"

#include <fmt/core.h>

#include "base/input_error.hpp"
#include "report/figures.hpp"

namespace stagecraft {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& pointer, const std::string& got,
                         const std::string& expected, const std::vector<std::string>& words) {
  throw InputError(InputProblem{file, 0, 0, pointer, got, expected, nearest_word(got, words)});
}

const FigureField& field_of(const std::string& key, const std::string& file) {
  if (const FigureField* field = find_figure(key)) return *field;
  std::vector<std::string> keys;
  for (const FigureField& known : figure_fields()) keys.emplace_back(known.key);
  refuse(file, "/published", key, "a figure of the report", keys);
}

}  // namespace

const FlopConvention& flop_convention(const std::string& name, const std::string& file) {
  if (const FlopConvention* found = find_flop_convention(name)) return *found;
  std::vector<std::string> names;
  for (const FlopConvention& known : flop_conventions()) names.emplace_back(known.name);
  refuse(file, "/published", name, "the name of a FLOP convention", names);
}

std::vector<ReportPublished> published_rows(const Report& report, const Scenario& scenario, const Plan& plan) {
  std::vector<ReportPublished> rows;
  for (const PublishedFigure& figure : scenario.published) {
    if (!(figure.value > 0)) {
      refuse(report.file, "/published/" + figure.key, fmt::format("{}", figure.value), "a positive number", {});
    }
    const FigureField& field = field_of(figure.key, report.file);
    ReportPublished row{figure.key, figure.flop_convention, figure.source, figure.value, report.*(field.member), 0};
    const bool counts_flops = figure.key == "tflops_per_gpu" || figure.key == "mfu";
    if (counts_flops && !figure.flop_convention.empty()) {
      const double flops = flop_convention(figure.flop_convention, report.file).of_step(plan).value;
      const double scale = flops / report.inputs.model_flops;
      for (double* bound : {&row.predicted.value, &row.predicted.low, &row.predicted.high}) *bound *= scale;
    }
    row.error = row.predicted.value / row.published - 1;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stagecraft
