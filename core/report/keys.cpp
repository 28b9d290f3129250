#include "report/keys.hpp"

#include <iterator>

namespace stagecraft {

void add_figure_keys(std::vector<ReportKey>& keys, const ReportKey& key) {
  keys.push_back(key);
  keys.push_back({key.path + "_low",
                  "number",
                  "Low end of its interval: every constant of the calibration at the favourable "
                  "or unfavourable end of its own interval, all at once.",
                  "as " + key.path,
                  {"calibration.constants[].relative_error"}});
  keys.push_back({key.path + "_high",
                  "number",
                  "High end of its interval, likewise.",
                  "as " + key.path,
                  {"calibration.constants[].relative_error"}});
  keys.push_back({key.path + "_evidence",
                  "string",
                  "measured, fitted or borrowed: the weakest evidence behind at least a twentieth of it.",
                  "",
                  {"calibration.constants[].evidence"}});
}

void add_memory_keys(std::vector<ReportKey>& keys, const ReportKey& key) {
  keys.push_back(key);
  keys.push_back({key.path + "_low",
                  "number",
                  "Low end of its interval: the range in which published readings lie around such predictions.",
                  key.path + " x 0.99, docs/memory-model.md",
                  {key.path}});
  keys.push_back({key.path + "_high",
                  "number",
                  "High end of its interval, likewise.",
                  key.path + " x 1.06, docs/memory-model.md",
                  {key.path}});
  keys.push_back({key.path + "_evidence", "string", "measured: the interval was.", "", {}});
}

const char* origin_of(const ReportKey& key) {
  struct Origin {
    const char* prefix;
    const char* words;
  };
  constexpr Origin origins[] = {{"scenario.", "scenario"},         {"run.", "scenario"},
                                {"published[].", "scenario"},      {"memory_limit_bytes", "GPU file"},
                                {"inputs.peak_flops", "GPU file"}, {"calibration.", "calibration"},
                                {"defaults[].", "default"}};
  if (!key.formula.empty()) return "computed";
  for (const Origin& origin : origins) {
    if (key.path.starts_with(origin.prefix)) return origin.words;
  }
  return "the run";
}

std::vector<ReportKey> report_keys() {
  std::vector<ReportKey> keys = {
      {"version", "integer", "Version of this form; a key never changes its meaning within one.", "", {}},
      {"producer", "string", "Program and version that wrote it.", "", {}},
      {"kind", "string", "predicted: simulated with contention; estimated: closed form, without contention.", "", {}},
      {"scenario.name", "string", "Name of the scenario.", "", {}},
      {"scenario.description", "string", "What the scenario is about, in its own words.", "", {}},
      {"scenario.file", "string", "The file, as the user named it.", "", {}},
  };
  const auto add = [&](std::vector<ReportKey> more) {
    keys.insert(keys.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  add(keys_of_run());
  add(keys_of_figures());
  add(keys_of_training());
  add(keys_of_breakdown("breakdown", "mean over the GPUs"));
  add(keys_of_costs());
  add(keys_of_breakdown("critical_path", "along the critical path"));
  keys.push_back(
      {"critical_path_busiest_rank",
       "integer",
       "Global rank on which the critical path computes longest; its idle time is the path's bubble. -1: none.",
       "",
       {}});
  keys.push_back({"critical_path_spans", "integer", "Operations on the critical path.", "", {}});
  add(keys_of_stages());
  add(keys_of_provenance());
  return keys;
}

}  // namespace stagecraft
