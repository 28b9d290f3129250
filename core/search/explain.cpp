#include "search/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace stagecraft {
namespace {

/// What is known of all candidates with one value of a setting.
struct Rival {
  const Ranked* best = nullptr;  // the least time, timed or bound
  bool fits_not = false;         // some do not fit in memory
  std::string cannot_run;        // a reason of one that cannot run
  std::int64_t order = 0;        // of its first candidate
};

using Rivals = std::map<std::string, Rival>;

Rivals rivals_of(const SearchResult& result, std::size_t setting) {
  Rivals rivals;
  const auto rival = [&](const Ranked& ranked) -> Rival& {
    const auto [at, added] = rivals.try_emplace(ranked.point.values[setting]);
    if (added || ranked.point.number < at->second.order) at->second.order = ranked.point.number;
    return at->second;
  };
  for (const auto* list : {&result.ranking, &result.pruned}) {
    for (const Ranked& ranked : *list) {
      Rival& found = rival(ranked);
      if (found.best == nullptr || step_seconds(ranked) < step_seconds(*found.best)) found.best = &ranked;
    }
  }
  for (const Ranked& ranked : result.too_large) rival(ranked).fits_not = true;
  for (const Ranked& ranked : result.infeasible) {
    std::string& reason = rival(ranked).cannot_run;
    if (reason.empty()) reason = ranked.judgement.reason;
  }
  return rivals;
}

std::string name_of(const std::string& path, const std::string& value) {
  static constexpr std::pair<const char*, const char*> names[] = {
      {"parallel.tensor", "TP {}"},
      {"parallel.pipeline", "PP {}"},
      {"parallel.virtual_stages", "{} chunks per rank"},
      {"parallel.context", "CP {}"},
      {"parallel.expert", "EP {}"},
      {"parallel.data", "DP {}"},
      {"batch.micro", "micro-batch {}"},
      {"zero_stage", "ZeRO {}"},
      {"recompute", "recompute {}"},
      {"parallel.sequence_parallel", "sequence parallel {}"},
      {"parallel.partition", "partition {}"}};
  for (const auto& [known, form] : names) {
    if (path == known) return fmt::format(fmt::runtime(form), value);
  }
  return value;
}

/// What the setting does, as far as the numbers show it.
std::string purpose_of(const std::string& path, const Candidate& winner, const Scenario& scenario) {
  const std::int64_t per_node = gpus_per_node(scenario.cluster.node);
  const ParallelSpec& parallel = winner.parallel;
  if (path == "parallel.tensor") {
    if (parallel.tensor == 1) return "leaves every layer whole on its GPU, without tensor-parallel traffic";
    return parallel.tensor <= per_node && per_node % parallel.tensor == 0
               ? fmt::format("keeps tensor-parallel traffic inside a node of {} GPUs", per_node)
               : "sends tensor-parallel traffic over the fabric";
  }
  if (path == "parallel.pipeline") {
    if (parallel.pipeline == 1) return "needs no pipeline and has no bubble";
    const std::int64_t micro_batches = scenario.run.batch.global / (winner.micro * parallel.data);
    return fmt::format(
        "cuts the layers over {} ranks and fills them with {} micro-batches, an ideal 1F1B bubble of {:.1f} %",
        parallel.pipeline, micro_batches,
        100.0 * static_cast<double>(parallel.pipeline - 1) /
            static_cast<double>((micro_batches * parallel.virtual_stages) + parallel.pipeline - 1));
  }
  if (path == "parallel.virtual_stages" && parallel.virtual_stages > 1)
    return "shrinks the bubble at the cost of more pipeline messages";
  if (path == "zero_stage" && winner.zero_stage > 0) return "shards states over the data group";
  if (path == "recompute") {
    return winner.recompute == Recompute::none ? "computes nothing twice" : "makes room for activations";
  }
  return "";
}

std::string verdict_on(const Rival& rival, const Ranked& winner) {
  if (rival.best != nullptr) {
    const double slower = step_seconds(*rival.best) / step_seconds(winner) - 1;
    const bool timed = rival.best->timed_by >= TimedBy::closed_form;
    if (timed && slower < -1e-9) return fmt::format("takes {:.1f} % less in closed form", -100 * slower);
    if (timed && slower <= 1e-9) return "takes as long";
    return fmt::format("takes {}{:.1f} % longer", timed ? "" : "at least ", 100 * slower);
  }
  if (rival.fits_not) return "does not fit in memory";
  return "cannot run";
}

/// Whole numbers by size, words by their place in the space.
std::vector<std::pair<std::string, Rival>> sorted(const Rivals& rivals) {
  std::vector<std::pair<std::string, Rival>> list(rivals.begin(), rivals.end());
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    const auto length = [](const std::string& text) {
      return text.find_first_not_of("0123456789") == std::string::npos ? text.size() : std::size_t{99};
    };
    const auto left = std::tuple(length(a.first), length(a.first) < 99 ? a.first : "", a.second.order);
    const auto right = std::tuple(length(b.first), length(b.first) < 99 ? b.first : "", b.second.order);
    return left < right;
  });
  return list;
}

}  // namespace

std::vector<SettingReason> explain_winner(const SearchResult& result, const Scenario& scenario) {
  const Ranked& winner = result.ranking.front();
  const std::vector<std::string> paths = candidate_paths();
  std::vector<SettingReason> reasons;
  for (std::size_t setting = 0; setting < paths.size(); ++setting) {
    if (paths[setting] == "parallel.data") continue;  // follows from the others
    const auto rivals = sorted(rivals_of(result, setting));
    if (rivals.size() < 2) continue;
    const std::string& value = winner.point.values[setting];
    std::string text = name_of(paths[setting], value);
    const std::string purpose = purpose_of(paths[setting], winner.candidate, scenario);
    if (!purpose.empty()) text += " " + purpose;
    // The neighbours on both sides say most.
    std::size_t at = 0;
    while (at < rivals.size() && rivals[at].first != value) ++at;
    std::string others;
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      const bool near = i + 2 >= at && i <= at + 2;
      if (i == at || !near) continue;
      others += fmt::format("{}{} {}", others.empty() ? "" : ", ", name_of(paths[setting], rivals[i].first),
                            verdict_on(rivals[i].second, winner));
    }
    reasons.push_back({paths[setting], text + (purpose.empty() ? ": " : "; ") + others + "."});
  }
  return reasons;
}

std::string winner_paragraph(const SearchResult& result, const Scenario& scenario) {
  std::string text;
  for (const SettingReason& reason : explain_winner(result, scenario)) {
    std::string sentence = reason.text;
    text += (text.empty() ? "" : " ") + sentence;
  }
  return text;
}

std::vector<CommonReason> common_reasons(const SearchResult& result) {
  std::map<std::string, CommonReason> by_code;
  for (const Ranked& ranked : result.infeasible) {
    const std::string& reason = ranked.judgement.reason;
    CommonReason& common = by_code[reason.substr(0, reason.find(':'))];
    if (common.count++ > 0) continue;
    common.text = reason;
    common.example = ranked.candidate;
  }
  std::vector<CommonReason> list;
  for (auto& [code, reason] : by_code) list.push_back(std::move(reason));
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  return list;
}

}  // namespace stagecraft
