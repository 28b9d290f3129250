#include "report/family_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/number_text.hpp"
#include "schedule/asynchronous.hpp"

namespace stagecraft {
namespace {

double largest_peak(const Analysis& analysis) {
  double peak = 0;
  for (const RankAnalysis& rank : analysis.ranks) peak = std::max(peak, rank.peak_activations);
  return peak;
}

}  // namespace

std::string family_text(const std::vector<FamilyRow>& rows) {
  std::string out = fmt::format("{:<20}{:>3}{:>12}{:>10}{:>13}{:>12}{:>10}\n", "schedule", "v", "makespan", "bubble",
                                "span bubble", "peak act.", "messages");
  bool any_asynchronous = false;
  for (const FamilyRow& row : rows) {
    const std::string name = row.name + (row.asynchronous ? " *" : "");
    any_asynchronous = any_asynchronous || row.asynchronous;
    if (!row.refused.empty()) {
      out += fmt::format("{:<20}{:>3}  {}\n", name, row.chunks, wrapped(row.refused.front().message, 74, 25));
      continue;
    }
    const Analysis& a = row.analysis;
    out += fmt::format("{:<20}{:>3}{:>12.6g}{:>10}{:>13}{:>12.4g}{:>10}\n", name, row.chunks, a.makespan,
                       percent(makespan_bubble_rate(a)), percent(span_bubble_rate(a)), largest_peak(a), a.messages);
  }
  out +=
      "\nbubble: idle share of the makespan, between two barriers. span bubble: of the longest time that any rank is "
      "in use,\n"
      "which a step costs only where steps may overlap. peak act.: micro-batches of a full stage alive on the fullest "
      "rank.\n";
  if (any_asynchronous) out += "* asynchronous: figures are of one cold start; the steady state has no flush.\n";
  return out;
}

std::string family_csv(const std::vector<FamilyRow>& rows) {
  std::string out = "schedule,chunks,makespan,bubble_rate,span_bubble_rate,peak_activations,messages,refused\n";
  for (const FamilyRow& row : rows) {
    if (!row.refused.empty()) {
      out += fmt::format("{},{},,,,,,{}\n", row.name, row.chunks, row.refused.front().code);
      continue;
    }
    const Analysis& a = row.analysis;
    out += fmt::format("{},{},{},{},{},{},{},\n", row.name, row.chunks, a.makespan, makespan_bubble_rate(a),
                       span_bubble_rate(a), largest_peak(a), a.messages);
  }
  return out;
}

std::string family_json(const std::vector<FamilyRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FamilyRow& row : rows) {
    nlohmann::ordered_json entry = {{"schedule", row.name}, {"chunks", row.chunks}, {"asynchronous", row.asynchronous}};
    if (row.refused.empty()) {
      const Analysis& a = row.analysis;
      entry["makespan"] = a.makespan;
      entry["bubble_rate"] = makespan_bubble_rate(a);
      entry["span_bubble_rate"] = span_bubble_rate(a);
      entry["peak_activations"] = largest_peak(a);
      entry["messages"] = a.messages;
    }
    entry["refused"] = nlohmann::ordered_json::array();
    for (const Finding& finding : row.refused) {
      entry["refused"].push_back({{"code", finding.code}, {"message", finding.message}, {"nearest", finding.nearest}});
    }
    list.push_back(std::move(entry));
  }
  return list.dump(2) + "\n";
}

std::string schedule_figures(const Schedule& schedule, const Analysis& analysis, const StageTimes& times) {
  std::string out =
      fmt::format("makespan {:.6g}, bubble {} of it; span {:.6g}, bubble {} of that\n", analysis.makespan,
                  percent(makespan_bubble_rate(analysis)), analysis.span, percent(span_bubble_rate(analysis)));
  out += "peak activations";
  for (const RankAnalysis& rank : analysis.ranks) out += fmt::format(" {:.4g}", rank.peak_activations);
  out += fmt::format(" (micro-batches of a full stage, rank by rank); {} messages\n", analysis.messages);
  if (!schedule.asynchronous) return out;
  out += fmt::format("steady state: one micro-batch every {:.6g}; weight versions and staleness by rank",
                     steady_period(schedule.shape, times));
  for (std::int32_t rank = 0; rank < schedule.shape.ranks; ++rank) {
    out += fmt::format(" {}/{}", weight_versions(schedule.weights, schedule.shape, PipelineRank(rank)),
                       staleness(schedule.weights, schedule.shape, PipelineRank(rank)));
  }
  return out + "\n";
}

}  // namespace stagecraft
