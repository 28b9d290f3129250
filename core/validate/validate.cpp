#include "validate/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "validate/predict.hpp"

namespace stagecraft {
namespace {

GroupResult result_of(const std::string& name, const std::vector<const Outcome*>& outcomes) {
  GroupResult group;
  group.name = name;
  group.records = outcomes.size();
  std::vector<double> step_times, memories, bubbles;
  std::map<MemoryReading, std::vector<double>> memories_by_kind;
  std::vector<OomComparison> verdicts;
  for (const Outcome* each : outcomes) {
    const Outcome& outcome = *each;
    if (outcome.step_time || !outcome.memory.empty() || outcome.bubble || outcome.oom) ++group.compared;
    if (outcome.step_time) step_times.push_back(outcome.step_time->error);
    for (const MemoryComparison& reading : outcome.memory) {
      memories.push_back(reading.error);
      memories_by_kind[reading.kind].push_back(reading.error);
    }
    if (outcome.bubble) bubbles.push_back(outcome.bubble->error);
    if (!outcome.oom) continue;
    const auto [predicted, measured, close] = *outcome.oom;
    verdicts.push_back(*outcome.oom);
    if (close) ++group.oom.close;
    ++(predicted ? (measured ? group.oom.both : group.oom.only_predicted)
                 : (measured ? group.oom.only_measured : group.oom.neither));
  }
  group.step_time = error_statistics(step_times);
  group.memory = error_statistics(memories);
  for (const auto& [kind, errors] : memories_by_kind) group.memory_by_kind[kind] = *error_statistics(errors);
  group.balanced_accuracy = balanced_accuracy(verdicts);
  if (const auto errors = error_statistics(bubbles))
    group.bubble = BubbleErrors{errors->n, errors->mean, errors->worst};
  return group;
}

}  // namespace

std::optional<double> balanced_accuracy(std::span<const OomComparison> outcomes) {
  double right[2] = {0, 0}, all[2] = {0, 0};  // [measured]
  for (const OomComparison& outcome : outcomes) {
    if (outcome.close) continue;
    ++all[outcome.measured ? 1 : 0];
    if (outcome.predicted == outcome.measured) ++right[outcome.measured ? 1 : 0];
  }
  if (all[0] == 0 || all[1] == 0) return std::nullopt;
  return (right[0] / all[0] + right[1] / all[1]) / 2;
}

namespace {

/// Everything of a record but its layout: tensor, pipeline, data, virtual stages, micro-batch, sequence parallelism,
/// recompute, schedule.
std::string set_of(const Outcome& outcome) {
  const Record& record = outcome.record;
  const RecordModel& model = record.model;
  const auto number = [](const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : "?"; };
  return fmt::format("{} of {} layers x {}, {} heads, ffn {}, vocabulary {}, {} tokens; {} {}; batch {}; {}; {}",
                     model.activation, number(model.layers), number(model.hidden), number(model.heads),
                     number(model.ffn), number(model.vocabulary), number(model.sequence), number(record.gpus),
                     record.gpu, number(record.global_batch), record.precision, outcome.mapping.software);
}

LayoutSet rank(LayoutSet set, const std::vector<Outcome>& outcomes) {
  std::vector<double> predicted, measured;
  for (const std::size_t index : set.outcomes) {
    predicted.push_back(outcomes[index].step_time->predicted);
    measured.push_back(outcomes[index].step_time->measured);
  }
  set.spearman = spearman(predicted, measured, tie_margin);
  set.regret = regret(predicted, measured);
  const auto id_at = [&](const std::vector<double>& values) {
    const auto least = std::min_element(values.begin(), values.end()) - values.begin();
    return outcomes[set.outcomes[static_cast<std::size_t>(least)]].record.id;
  };
  set.chosen = id_at(predicted);
  set.best = id_at(measured);
  for (std::size_t a = 0; a < measured.size(); ++a) {
    for (std::size_t b = a + 1; b < measured.size(); ++b) {
      const auto [low, high] = std::minmax(measured[a], measured[b]);
      if (high <= low * (1 + tie_margin)) ++set.ties;
    }
  }
  return set;
}

std::vector<LayoutSet> layout_sets(const std::vector<Outcome>& outcomes) {
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  std::vector<LayoutSet> sets;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].step_time) continue;
    const auto key = std::pair(outcomes[i].record.group, set_of(outcomes[i]));
    const auto [found, is_new] = known.emplace(key, sets.size());
    if (is_new) {
      sets.emplace_back();
      sets.back().group = key.first;
      sets.back().name = key.second;
    }
    sets[found->second].outcomes.push_back(i);
  }
  std::erase_if(sets, [](const LayoutSet& set) { return set.outcomes.size() < 3; });
  for (LayoutSet& set : sets) set = rank(std::move(set), outcomes);
  return sets;
}

void add_ranking(GroupResult& group, const LayoutSet& set) {
  if (set.outcomes.size() < ranked_from) return;
  if (set.spearman) group.spearman = std::min(group.spearman.value_or(1.0), *set.spearman);
  group.regret = std::max(group.regret.value_or(0.0), set.regret);
}

}  // namespace

Outcome predict(const Record& record, const Library& library, const StepTimer& timer) {
  std::int64_t passes = most_passes_of_a_record;
  return predict(record, library, passes, timer);
}

Validation validate(const std::vector<Record>& records, const Library& library, const StepTimer& timer) {
  Validation validation;
  std::int64_t passes_left = most_passes_of_a_file;
  for (const Record& record : records) validation.outcomes.push_back(predict(record, library, passes_left, timer));
  validation.sets = layout_sets(validation.outcomes);
  std::map<std::string, std::vector<const Outcome*>> by_group;
  std::vector<std::string> names;
  for (const Outcome& outcome : validation.outcomes) {
    std::vector<const Outcome*>& members = by_group[outcome.record.group];
    if (members.empty()) names.push_back(outcome.record.group);
    members.push_back(&outcome);
    if (!outcome.step_time || !outcome.step_time_interval) continue;
    ++validation.intervals;
    const auto [low, high] = *outcome.step_time_interval;
    if (low <= outcome.step_time->measured && outcome.step_time->measured <= high) ++validation.covered;
  }
  std::map<std::string, std::size_t> index_of;
  for (const std::string& name : names) {
    index_of.emplace(name, validation.groups.size());
    validation.groups.push_back(result_of(name, by_group.at(name)));
  }
  for (const LayoutSet& set : validation.sets) add_ranking(validation.groups[index_of.at(set.group)], set);
  return validation;
}

}  // namespace stagecraft
