#include "report/validation_tables.hpp"

#include <fmt/format.h>

#include <map>

#include "report/number_text.hpp"

namespace stagecraft {
namespace {

Table statistics_table(const Validation& validation, std::optional<ErrorStatistics> GroupResult::*quantity) {
  Table table{{"group", "n", "mean", "median", "p90", "worst", "bias"}, {}};
  for (const GroupResult& group : validation.groups) {
    const std::optional<ErrorStatistics>& errors = group.*quantity;
    if (!errors) continue;
    table.rows.push_back({group.name, std::to_string(errors->n), percent(errors->mean), percent(errors->median),
                          percent(errors->p90), percent(errors->worst), signed_percent(errors->bias)});
  }
  return table;
}

/// In the order of first appearance.
class Collected {
 public:
  void add(const std::string& what, const std::string& id) {
    const auto [found, is_new] = index_.emplace(what, all_.size());
    if (is_new) all_.push_back({what, {}});
    std::vector<std::string>& ids = all_[found->second].ids;
    if (ids.empty() || ids.back() != id) ids.push_back(id);
  }
  std::vector<Shared> all() && { return std::move(all_); }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<Shared> all_;
};

}  // namespace

Table step_time_table(const Validation& validation) {
  return statistics_table(validation, &GroupResult::step_time);
}

Table memory_table(const Validation& validation) {
  Table table{{"group", "figure", "n", "mean", "median", "p90", "worst", "bias"}, {}};
  for (const GroupResult& group : validation.groups) {
    for (const auto& [kind, errors] : group.memory_by_kind) {
      const char* figure = kind == MemoryReading::allocated  ? "allocated"
                           : kind == MemoryReading::reserved ? "reserved"
                                                             : "device";
      table.rows.push_back({group.name, figure, std::to_string(errors.n), percent(errors.mean), percent(errors.median),
                            percent(errors.p90), percent(errors.worst), signed_percent(errors.bias)});
    }
  }
  return table;
}

Table oom_table(const Validation& validation) {
  Table table{{"group", "OOM, predicted", "OOM, missed", "fits, predicted", "fits, missed", "close to the limit",
               "balanced accuracy of the rest"},
              {}};
  for (const GroupResult& group : validation.groups) {
    const OomCounts& counts = group.oom;
    if (counts.all() == 0) continue;
    table.rows.push_back({group.name, std::to_string(counts.both), std::to_string(counts.only_measured),
                          std::to_string(counts.neither), std::to_string(counts.only_predicted),
                          std::to_string(counts.close),
                          group.balanced_accuracy ? percent(*group.balanced_accuracy) : "-"});
  }
  return table;
}

Table bubble_table(const Validation& validation) {
  Table table{{"group", "n", "mean error", "worst"}, {}};
  for (const GroupResult& group : validation.groups) {
    if (!group.bubble) continue;
    table.rows.push_back({group.name, std::to_string(group.bubble->n), fmt::format("{:.4f}", group.bubble->mean),
                          fmt::format("{:.4f}", group.bubble->worst)});
  }
  return table;
}

Table ranking_table(const Validation& validation) {
  Table table{{"group", "n", "Spearman", "regret", "ties", "set"}, {}};
  for (const LayoutSet& set : validation.sets) {
    if (set.outcomes.size() < ranked_from) continue;
    table.rows.push_back({set.group, std::to_string(set.outcomes.size()),
                          set.spearman ? fmt::format("{:.3f}", *set.spearman) : "all tie", percent(set.regret),
                          std::to_string(set.ties), set.name});
  }
  return table;
}

Table held_out_table(const std::vector<HeldOutGroup>& groups) {
  Table table{{"group", "n", "median", "p90", "others", "median without it", "p90 without it", "constants without it"},
              {}};
  for (const HeldOutGroup& group : groups) {
    std::string constants;
    for (const RefittedConstant& constant : group.constants) {
      constants += fmt::format("{}{} {:.4g} (shipped {:.4g})", constants.empty() ? "" : "; ", constant.name,
                               constant.refitted, constant.shipped);
    }
    const bool alone = group.constants.empty();
    table.rows.push_back({group.name, std::to_string(group.records), percent(group.shipped_median),
                          percent(group.shipped_p90), std::to_string(group.others),
                          alone ? "-" : percent(group.refitted_median), alone ? "-" : percent(group.refitted_p90),
                          alone ? "no other group shares one" : constants});
  }
  return table;
}

std::vector<Shared> left_out(const Validation& validation) {
  Collected collected;
  for (const Outcome& outcome : validation.outcomes) {
    for (const Skipped& skipped : outcome.skipped) {
      collected.add(fmt::format("{}: {}", skipped.quantity, skipped.reason), outcome.record.id);
    }
  }
  return std::move(collected).all();
}

std::vector<Shared> inferred_inputs(const Validation& validation) {
  Collected collected;
  for (const Outcome& outcome : validation.outcomes) {
    for (const Inferred& input : outcome.mapping.inferred) {
      collected.add(fmt::format("{} = {} ({})", input.pointer, input.value, input.reason), outcome.record.id);
    }
  }
  return std::move(collected).all();
}

std::string some_of(const std::vector<std::string>& ids, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < ids.size() && i < most; ++i) text += (i > 0 ? ", " : "") + ids[i];
  if (ids.size() > most) text += fmt::format(" and {} more", ids.size() - most);
  return text;
}

}  // namespace stagecraft
