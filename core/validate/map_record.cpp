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

void set_published(Draft& draft) {
  const Record& record = draft.record;
  if (!record.measured.step_time_s) return;
  set(draft, "/published/0/key", "step_time_s");
  set(draft, "/published/0/value", *record.measured.step_time_s);
  set(draft, "/published/0/source", record.cite.empty() ? record.id : record.cite);
}

// Text that goes into the scenario must be UTF-8, which the reader of records has made sure of.
void put_together(Draft& draft) {
  const Record& record = draft.record;
  if (!record.problems.empty()) throw Unmapped(record.problems.front());
  set(draft, "/name", record.id);
  set(draft, "/description", fmt::format("From the record {} ({}).", record.id, record.cite));
  map_model(draft);
  map_cluster(draft);
  map_parallel(draft);
  map_kernels(draft);
  map_experts(draft);
  map_memory(draft);
  set_published(draft);
}

template <typename Value>
void append(Draft& draft, const char* pointer, const Value& value) {
  draft.scenario.push_back({pointer, nlohmann::json(value).dump()});
}

std::string assembled(const std::vector<Setting>& settings) {
  using Json = nlohmann::ordered_json;
  Json scenario = Json::object();
  for (const Setting& setting : settings) scenario[Json::json_pointer(setting.pointer)] = Json::parse(setting.json);
  return scenario.dump(2) + "\n";
}

}  // namespace

void set(Draft& draft, const char* pointer, bool value) {
  append(draft, pointer, value);
}

void set(Draft& draft, const char* pointer, std::int64_t value) {
  append(draft, pointer, value);
}

void set(Draft& draft, const char* pointer, double value) {
  append(draft, pointer, value);
}

void set(Draft& draft, const char* pointer, const std::string& value) {
  append(draft, pointer, value);
}

void set(Draft& draft, const char* pointer, const char* value) {
  append(draft, pointer, value);
}

void set(Draft& draft, const char* pointer, const Partition& value) {
  std::visit([&](const auto& of_kind) { append(draft, pointer, of_kind); }, value);
}

void set(Draft& draft, const char* pointer, const std::vector<std::string>& value) {
  append(draft, pointer, value);
}

void infer(Draft& draft, const std::string& pointer, const std::string& value, const std::string& reason) {
  draft.mapping.inferred.push_back({pointer, value, reason});
}

bool contains(const std::string& text, const char* part) {
  const std::string_view wanted = part;
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(),
                     [](char a, char b) { return lower_case(a) == lower_case(b); }) != text.end();
}

bool is_guessed(const Record& record, const char* what) {
  return std::find(record.inferred.begin(), record.inferred.end(), what) != record.inferred.end();
}

std::int64_t stated(const std::optional<std::int64_t>& value, const char* what) {
  if (!value) throw Unmapped(fmt::format("{} is not stated", what));
  return *value;
}

void set_recomputed_blocks(Mapping& mapping, std::int64_t blocks) {
  nlohmann::ordered_json scenario = nlohmann::ordered_json::parse(mapping.scenario);
  scenario["recompute"] = blocks > 0 ? "full" : "none";
  if (blocks > 0) {
    scenario["recompute_scope"] = "first_blocks";
    scenario["recompute_blocks"] = blocks;
  }
  mapping.scenario = scenario.dump(2) + "\n";
  mapping.inferred.push_back({"/recompute", blocks > 0 ? fmt::format("full, {} blocks of each stage", blocks) : "none",
                              "not known: the least that makes the run fit"});
}

Mapping map_record(const Record& record, const TunedLayout& tuned) {
  Mapping mapping;
  const SoftwarePeriod& software = software_of(record);
  mapping.software = software.name;
  std::vector<Setting> scenario;
  Draft draft{record, software, tuned, scenario, mapping};
  try {
    put_together(draft);
    mapping.scenario = assembled(scenario);
  } catch (const Unmapped& unmapped) {
    mapping.reason = unmapped.what();
  }
  return mapping;
}

}  // namespace stagecraft
