#include <fmt/format.h>

#include <algorithm>

#include "report/number_text.hpp"
#include "report/validation.hpp"
#include "report/validation_tables.hpp"

namespace stagecraft {
namespace {

std::string as_text(const Table& table) {
  std::vector<std::size_t> widths(table.header.size(), 0);
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  };
  widen(table.header);
  for (const auto& row : table.rows) widen(row);
  std::string out;
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool first = i == 0,
                 last = i + 1 == row.size() && (table.header[i] == "set" || table.header[i].starts_with("constants"));
      text += first ? padded(row[i], widths[i]) : "  " + (last ? row[i] : right_aligned(row[i], widths[i]));
    }
    out += text + "\n";
  };
  line(table.header);
  for (const auto& row : table.rows) line(row);
  return out;
}

void section(std::string& out, const char* title, const Table& table) {
  if (!table.rows.empty()) out += fmt::format("{}\n{}\n", title, as_text(table));
}

std::string comparison(const char* name, const std::optional<Comparison>& figure, const char* format_unit) {
  if (!figure) return {};
  return fmt::format("  {}: predicted {:.6g}, measured {:.6g} {} ({:+.4f})\n", name, figure->predicted,
                     figure->measured, format_unit, figure->error);
}

}  // namespace

std::string to_text(const Validation& validation, const HeldOut& held_out) {
  std::size_t compared = 0;
  for (const GroupResult& group : validation.groups) compared += group.compared;
  std::string out = fmt::format("{} records, {} of them compared\n\n", validation.outcomes.size(), compared);
  section(out, "Step time, relative errors", step_time_table(validation));
  section(out, "Memory, relative errors", memory_table(validation));
  section(out, "Out of memory", oom_table(validation));
  section(out, "Bubble from given stage times, absolute errors", bubble_table(validation));
  section(out,
          fmt::format("Ranking of layouts, sets of {} records or more; times within {} tie", ranked_from,
                      percent(tie_margin))
              .c_str(),
          ranking_table(validation));
  section(out, "Constants fitted without the group, step time", held_out_table(held_out));
  if (validation.intervals > 0) {
    out += fmt::format("{} of {} measured step times lie in the predicted interval ({})\n\n", validation.covered,
                       validation.intervals,
                       percent(static_cast<double>(validation.covered) / static_cast<double>(validation.intervals)));
  }
  constexpr std::size_t shown = 4;
  const std::vector<Shared> out_of_it = left_out(validation);
  if (!out_of_it.empty()) out += "Not compared\n";
  for (const Shared& reason : out_of_it) {
    out += fmt::format("  {}x {}\n     {}\n", reason.ids.size(), reason.what, some_of(reason.ids, shown));
  }
  const std::vector<Shared> inputs = inferred_inputs(validation);
  if (!inputs.empty()) out += "\nInferred inputs\n";
  for (const Shared& input : inputs) {
    out += fmt::format("  {}x {}\n     {}\n", input.ids.size(), input.what, some_of(input.ids, shown));
  }
  return out;
}

std::string to_text(const Outcome& outcome) {
  std::string out = outcome.record.id + "\n";
  out += comparison("step time", outcome.step_time, "s");
  for (const MemoryComparison& reading : outcome.memory) {
    out += comparison("memory", std::optional<Comparison>(reading), "bytes");
  }
  out += comparison("bubble", outcome.bubble, "");
  if (outcome.oom) {
    out += fmt::format("  out of memory: predicted {}, measured {}\n", outcome.oom->predicted ? "yes" : "no",
                       outcome.oom->measured ? "yes" : "no");
  }
  for (const Skipped& skipped : outcome.skipped) out += fmt::format("  no {}: {}\n", skipped.quantity, skipped.reason);
  for (const Inferred& input : outcome.mapping.inferred) {
    out += fmt::format("  inferred {} = {}: {}\n", input.pointer, input.value, input.reason);
  }
  return out + outcome.mapping.scenario;
}

}  // namespace stagecraft
