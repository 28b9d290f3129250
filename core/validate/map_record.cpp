#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "validate/rules.hpp"

namespace stagecraft {
namespace {

char lower_case(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

OrderedJson published(const Record& record) {
  OrderedJson figures = OrderedJson::array();
  if (record.measured.step_time_s) {
    figures.push_back({{"key", "step_time_s"},
                       {"value", *record.measured.step_time_s},
                       {"source", record.cite.empty() ? record.id : record.cite}});
  }
  return figures;
}

// Text that goes into the scenario must be UTF-8, which the reader of records has made sure of.
void put_together(Draft& draft) {
  const Record& record = draft.record;
  if (!record.problems.empty()) throw Unmapped(record.problems.front());
  draft.scenario["name"] = record.id;
  draft.scenario["description"] = fmt::format("From the record {} ({}).", record.id, record.cite);
  map_model(draft);
  map_cluster(draft);
  map_parallel(draft);
  map_kernels(draft);
  map_memory(draft);
  draft.scenario["published"] = published(record);
}

}  // namespace

void infer(Draft& draft, const std::string& pointer, const std::string& value, const std::string& reason) {
  draft.mapping.inferred.push_back({pointer, value, reason});
}

bool contains(const std::string& text, const char* part) {
  const std::string_view wanted = part;
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(),
                     [](char a, char b) { return lower_case(a) == lower_case(b); }) != text.end();
}

std::int64_t stated(const std::optional<std::int64_t>& value, const char* what) {
  if (!value) throw Unmapped(fmt::format("{} is not stated", what));
  return *value;
}

Mapping map_record(const Record& record) {
  Mapping mapping;
  const SoftwarePeriod& software = software_of(record);
  mapping.software = software.name;
  OrderedJson scenario = OrderedJson::object();
  Draft draft{record, software, scenario, mapping};
  try {
    put_together(draft);
    mapping.scenario = scenario.dump(2) + "\n";
  } catch (const Unmapped& unmapped) {
    mapping.reason = unmapped.what();
  }
  return mapping;
}

}  // namespace stagecraft
