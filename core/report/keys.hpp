#pragma once
// Every key of the report's JSON form: one table behind the schema, `explain` and docs/report.md.

#include <string>
#include <vector>

namespace stagecraft {

struct ReportKey {
  std::string path;     // "step_time_s", "stages[].memory.activations_bytes"; [] stands for every entry of a list
  std::string type;     // of JSON Schema: "number", "integer", "string", "boolean"
  std::string meaning;  // what it is, with its unit
  std::string formula;  // how it is computed, in words and keys; "" if it is taken over as it is
  std::vector<std::string> inputs;  // paths of the keys in the formula
};

/// In the order of the JSON form.
std::vector<ReportKey> report_keys();

/// Where the value of a key comes from: "computed", "scenario", "GPU file", "calibration", ...
const char* origin_of(const ReportKey& key);

/// The table as Markdown, for docs/report.md. What repeats is left out: intervals and evidence, fractions of
/// breakdowns, and the classes of the second and third breakdown.
std::string report_keys_markdown();

/// Parts of the table.
std::vector<ReportKey> keys_of_run();
std::vector<ReportKey> keys_of_figures();
std::vector<ReportKey> keys_of_training();
std::vector<ReportKey> keys_of_breakdown(const std::string& path, const std::string& whose);
std::vector<ReportKey> keys_of_costs();
std::vector<ReportKey> keys_of_stages();
std::vector<ReportKey> keys_of_provenance();

/// The key, its interval and its evidence.
void add_figure_keys(std::vector<ReportKey>& keys, const ReportKey& key);

/// The same of a peak of memory, whose interval is the range of errors against published readings.
void add_memory_keys(std::vector<ReportKey>& keys, const ReportKey& key);

}  // namespace stagecraft
