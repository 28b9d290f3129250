#include "compare_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/input_error.hpp"
#include "base/units.hpp"
#include "trace/align.hpp"
#include "trace/summary.hpp"

namespace stagecraft::cli {
namespace {

std::optional<double> error_of(double predicted, const std::optional<double>& measured) {
  if (!measured || *measured <= 0 || predicted <= 0) return std::nullopt;
  return predicted / *measured - 1;
}

std::string row(const char* title, const std::string& predicted, const std::string& measured,
                const std::optional<double>& error) {
  return fmt::format("{:<16} {:>12} {:>12} {:>9}\n", title, predicted, measured,
                     error ? fmt::format("{:+.1f}%", 100 * *error) : "-");
}

nlohmann::ordered_json value_of(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace

Record read_one_record(const std::string& path) {
  const std::vector<Record> records = read_records(path);
  const auto refuse = [&](const std::string& got, const char* expected) {
    throw InputError(InputProblem{path, 0, 0, "", got, expected, ""});
  };
  if (records.size() != 1) {
    refuse(fmt::format("{} records", records.size()), "one; `stagecraft validate` takes any number");
  }
  const Record& record = records.front();
  if (!record.problems.empty()) refuse(record.problems.front(), "a record as `stagecraft observe` writes it");
  if (!record.measured.step_time_s && record.measured.memory.empty()) {
    refuse("a record without step time and memory", "measured.step_time_s or measured.memory_gb");
  }
  return record;
}

RecordComparison compare_with_record(const Trace& predicted, const Record& record) {
  RecordComparison comparison;
  comparison.id = record.id;
  comparison.predicted_step_s = summarise(predicted).step_s;
  comparison.measured_step_s = record.measured.step_time_s;
  for (const TraceRank& rank : predicted.ranks) {
    comparison.predicted_bytes = std::max(comparison.predicted_bytes, peak_memory_bytes(predicted, rank.rank));
  }
  if (!record.measured.memory.empty()) comparison.measured_bytes = record.measured.memory.front().bytes;
  return comparison;
}

std::optional<double> step_error(const RecordComparison& comparison) {
  return error_of(comparison.predicted_step_s, comparison.measured_step_s);
}

std::optional<double> memory_error(const RecordComparison& comparison) {
  return error_of(comparison.predicted_bytes, comparison.measured_bytes);
}

std::string text_of(const RecordComparison& comparison) {
  std::string out =
      fmt::format("{}\n\n{:<16} {:>12} {:>12} {:>9}\n", comparison.id, "", "predicted", "measured", "error");
  if (comparison.measured_step_s) {
    out += row("step time", to_text(Seconds{comparison.predicted_step_s}),
               to_text(Seconds{*comparison.measured_step_s}), step_error(comparison));
  }
  if (comparison.measured_bytes) {
    const std::string predicted =
        comparison.predicted_bytes > 0 ? to_text(Bytes{comparison.predicted_bytes}) : "not traced";
    out += row("peak memory", predicted, to_text(Bytes{*comparison.measured_bytes}), memory_error(comparison));
  }
  out += "a record has no operations: `stagecraft validate` says what was inferred for it\n";
  return out;
}

std::string json_of(const RecordComparison& comparison, bool outside) {
  nlohmann::ordered_json root;
  root["version"] = 1;
  root["record"] = comparison.id;
  root["predicted_step_time_s"] = comparison.predicted_step_s;
  root["measured_step_time_s"] = value_of(comparison.measured_step_s);
  root["step_time_error"] = value_of(step_error(comparison));
  root["predicted_peak_bytes"] = comparison.predicted_bytes;
  root["measured_peak_bytes"] = value_of(comparison.measured_bytes);
  root["memory_error"] = value_of(memory_error(comparison));
  root["outside_tolerance"] = outside;
  return root.dump(2) + "\n";
}

}  // namespace stagecraft::cli
