#include <nlohmann/json.hpp>

#include "report/validation.hpp"
#include "validate/memory_words.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::optional<ErrorStatistics>& statistics) {
  if (!statistics) return nullptr;
  return {{"mean", statistics->mean},
          {"median", statistics->median},
          {"p90", statistics->p90},
          {"worst", statistics->worst},
          {"bias", statistics->bias}};
}

Json to_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const std::optional<Comparison>& comparison) {
  if (!comparison) return nullptr;
  return {{"predicted", comparison->predicted}, {"measured", comparison->measured}, {"error", comparison->error}};
}

Json to_json(const MemoryComparison& reading) {
  return {{"kind", word_of(reading.kind)},
          {"pipeline_rank", word_of(reading.rank)},
          {"predicted", reading.predicted},
          {"measured", reading.measured},
          {"error", reading.error}};
}

Json memory_json(const std::vector<MemoryComparison>& readings) {
  return readings.empty() ? Json(nullptr) : to_json(readings.front());
}

Json to_json(const std::optional<OomComparison>& oom) {
  if (!oom) return nullptr;
  return {{"predicted", oom->predicted},
          {"measured", oom->measured},
          {"error", oom->predicted == oom->measured ? 0 : 1},
          {"close", oom->close}};
}

Json to_json(const GroupResult& group) {
  Json by_kind = Json::object();
  for (const auto& [kind, errors] : group.memory_by_kind) {
    by_kind[word_of(kind)] = to_json(std::optional<ErrorStatistics>(errors));
    by_kind[word_of(kind)]["n"] = errors.n;
  }
  return {{"name", group.name},
          {"n", group.compared},
          {"step_time", to_json(group.step_time)},
          {"memory", to_json(group.memory)},
          {"memory_by_kind", std::move(by_kind)},
          {"oom",
           {{"predicted_and_measured", group.oom.both},
            {"only_predicted", group.oom.only_predicted},
            {"only_measured", group.oom.only_measured},
            {"neither", group.oom.neither},
            {"close", group.oom.close}}},
          {"balanced_accuracy", to_json(group.balanced_accuracy)},
          {"bubble", group.bubble ? Json(group.bubble->mean) : Json(nullptr)},
          {"spearman", to_json(group.spearman)},
          {"regret", to_json(group.regret)}};
}

Json set_json(const LayoutSet& set, const std::vector<Outcome>& outcomes) {
  Json ids = Json::array();
  for (const std::size_t index : set.outcomes) ids.push_back(outcomes[index].record.id);
  return {{"group", set.group},       {"name", set.name},
          {"n", set.outcomes.size()}, {"spearman", to_json(set.spearman)},
          {"regret", set.regret},     {"ties", set.ties},
          {"tie_margin", tie_margin}, {"best", set.best},
          {"chosen", set.chosen},     {"records", std::move(ids)}};
}

Json held_out_json(const HeldOutGroup& group) {
  Json constants = Json::array();
  for (const RefittedConstant& constant : group.constants) {
    constants.push_back({{"name", constant.name}, {"shipped", constant.shipped}, {"refitted", constant.refitted}});
  }
  return {{"name", group.name},
          {"n", group.records},
          {"others", group.others},
          {"shipped", {{"median", group.shipped_median}, {"p90", group.shipped_p90}}},
          {"refitted", {{"median", group.refitted_median}, {"p90", group.refitted_p90}}},
          {"constants", std::move(constants)}};
}

}  // namespace

std::string to_json(const Validation& validation, const HeldOut& held_out) {
  Json groups = Json::array(), records = Json::array(), sets = Json::array(), unmapped = Json::array(),
       inferred = Json::array();
  for (const GroupResult& group : validation.groups) groups.push_back(to_json(group));
  for (const LayoutSet& set : validation.sets) sets.push_back(set_json(set, validation.outcomes));
  for (const Outcome& outcome : validation.outcomes) {
    Json readings = Json::array();
    for (const MemoryComparison& reading : outcome.memory) readings.push_back(to_json(reading));
    records.push_back({{"id", outcome.record.id},
                       {"step_time", to_json(outcome.step_time)},
                       {"memory", memory_json(outcome.memory)},
                       {"memory_readings", std::move(readings)},
                       {"bubble", to_json(outcome.bubble)},
                       {"oom", to_json(outcome.oom)}});
    for (const Skipped& skipped : outcome.skipped) {
      unmapped.push_back({{"id", outcome.record.id}, {"quantity", skipped.quantity}, {"reason", skipped.reason}});
    }
    for (const Inferred& input : outcome.mapping.inferred) {
      inferred.push_back(
          {{"id", outcome.record.id}, {"pointer", input.pointer}, {"value", input.value}, {"reason", input.reason}});
    }
  }
  Json without = Json::array();
  for (const HeldOutGroup& group : held_out) without.push_back(held_out_json(group));
  const Json coverage{{"intervals", validation.intervals}, {"covered", validation.covered}};
  return Json{{"groups", groups},     {"records", records},   {"sets", sets},       {"unmapped", unmapped},
              {"inferred", inferred}, {"coverage", coverage}, {"held_out", without}}
             .dump(1) +
         "\n";
}

}  // namespace stagecraft
