// Predictions of every shipped record held against what was measured, per source. Prints figures; with
// STAGECRAFT_FIDELITY_JSON=FILE also writes the whole result, with STAGECRAFT_UPDATE_DOCS=1 docs/fidelity.md.

#include <cstdlib>
#include <map>

#include "base/file_io.hpp"
#include "figure.hpp"
#include "report/validation.hpp"

using namespace stagecraft;

namespace {

struct Limit {
  const char* group;
  const char* statistic;  // "mean", "median" or "p90"
  double percent;
};

constexpr Limit limits[]{{"sc21-table-1", "mean", 4},
                         {"korthikanti22", "mean", 4},
                         {"mosaic", "median", 6},
                         {"mosaic", "p90", 15},
                         {"nemo-a100", "median", 6},
                         {"nemo-a100", "p90", 15},
                         {"bloom-a100-repaired", "median", 6},
                         {"bloom-a100-repaired", "p90", 15},
                         {"hagemann", "median", 6},
                         {"hagemann", "p90", 15},
                         {"internevo", "median", 6},
                         {"internevo", "p90", 15},
                         {"vocab-parallel", "median", 6},
                         {"vocab-parallel", "p90", 15},
                         {"fp8-pooled", "median", 10}};

/// Records that are judged together and are no group of their own.
struct Pool {
  const char* name;
  bool (*holds)(const Outcome&);
};

bool begins(const std::string& text, const char* part) {
  return text.starts_with(part);
}

constexpr Pool pools[]{{"sc21-table-1", [](const Outcome& each) { return begins(each.record.id, "sc21-t1-"); }},
                       {"bloom-a100-repaired",
                        [](const Outcome& each) {
                          return each.record.group == "bloom-a100" &&
                                 each.mapping.software != "megatron-deepspeed-2022-02-slow";
                        }},
                       {"fp8-pooled", [](const Outcome& each) {
                          const std::string& group = each.record.group;
                          return group == "mlperf" || group == "nemo-2407" || begins(group, "mbridge-2");
                        }}};

std::optional<double> limit_of(const std::string& group, const std::string& statistic) {
  for (const Limit& limit : limits) {
    if (group == limit.group && statistic == limit.statistic) return limit.percent;
  }
  return std::nullopt;
}

void print(const GroupResult& group, bool json) {
  const auto figure = [&](const std::string& name, double value, const char* unit, std::optional<double> limit) {
    bench::print({"fidelity/" + group.name + "/" + name, value, unit, limit, limit ? "limit" : ""}, json);
  };
  if (const auto& errors = group.step_time) {
    for (const auto& [name, value] : {std::pair{"mean", errors->mean},
                                      {"median", errors->median},
                                      {"p90", errors->p90},
                                      {"worst", errors->worst},
                                      {"bias", errors->bias}}) {
      figure(std::string("step-time/") + name, 100 * value, "%", limit_of(group.name, name));
    }
  }
  if (group.memory) figure("memory/mean", 100 * group.memory->mean, "%", std::nullopt);
  if (group.bubble) {
    figure("bubble/mean", group.bubble->mean, "", 0.01);
    figure("bubble/worst", group.bubble->worst, "", 0.015);
  }
  if (group.spearman) figure("spearman", *group.spearman, "", 0.9);
  if (group.regret) figure("regret", 100 * *group.regret, "%", 3.0);
  const OomCounts& oom = group.oom;
  if (oom.all() > 0) {
    figure("out-of-memory/ran-out-predicted-to-fit", static_cast<double>(oom.only_measured), "records", {});
    figure("out-of-memory/ran-predicted-not-to", static_cast<double>(oom.only_predicted), "records", {});
  }
}

/// The sets that are judged: eight layouts or more of one model, batch and number of GPUs.
void print_sets(const Validation& validation, bool json) {
  std::map<std::string, int> numbers;
  for (const LayoutSet& set : validation.sets) {
    if (set.outcomes.size() < ranked_from) continue;
    const std::string name = "fidelity/" + set.group + "/set-" + std::to_string(++numbers[set.group]);
    bench::print({name + "/layouts", static_cast<double>(set.outcomes.size()), "", {}, ""}, json);
    if (set.spearman) bench::print({name + "/spearman", *set.spearman, "", 0.9, "at least"}, json);
    bench::print({name + "/regret", 100 * set.regret, "%", 3.0, "limit"}, json);
  }
}

void print_pools(const Validation& validation, bool json) {
  for (const Pool& pool : pools) {
    std::vector<double> errors;
    for (const Outcome& outcome : validation.outcomes) {
      if (outcome.step_time && pool.holds(outcome)) errors.push_back(outcome.step_time->error);
    }
    GroupResult group;
    group.name = pool.name;
    group.step_time = error_statistics(errors);
    print(group, json);
  }
}

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = bench::wants_json(argc, argv);
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const std::vector<Record> records = read_records(root + "/scenarios/records/published.json");
  const Validation validation = validate(records, library);
  for (const GroupResult& group : validation.groups) print(group, json);
  print_pools(validation, json);
  print_sets(validation, json);
  if (const std::string file = setting("STAGECRAFT_FIDELITY_JSON"); !file.empty()) {
    write_file_whole(file, to_json(validation));
  }
  if (setting("STAGECRAFT_UPDATE_DOCS") == "1") {
    write_file_whole(root + "/docs/fidelity.md", to_markdown(validation, leave_one_group_out(records, library)));
  }
  return 0;
}
