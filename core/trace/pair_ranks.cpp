#include "trace/pair_ranks.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace stagecraft {
namespace {

using Stages = std::set<std::int32_t>;

/// Of the whole computations of a rank. Spans are ordered by rank.
Stages stages_of(const Trace& trace, std::int32_t rank) {
  auto span = std::lower_bound(trace.spans.begin(), trace.spans.end(), rank,
                               [](const Span& each, std::int32_t number) { return each.rank < number; });
  Stages stages;
  for (; span != trace.spans.end() && span->rank == rank; ++span) {
    if (span->segment < 0 && span->stage >= 0 && is_compute(span->kind)) stages.insert(span->stage);
  }
  return stages;
}

/// What recorded no stage contradicts nothing.
bool share_a_stage(const Stages& a, const Stages& b) {
  return a.empty() || b.empty() ||
         std::any_of(a.begin(), a.end(), [&](std::int32_t stage) { return b.contains(stage); });
}

using RanksByNumber = std::map<std::int32_t, TraceRank>;

RanksByNumber by_number(const Trace& trace) {
  RanksByNumber ranks;
  for (const TraceRank& rank : trace.ranks) ranks.emplace(rank.rank, rank);
  return ranks;
}

bool numbers_mean_the_same(const Trace& a, const Trace& b, const RanksByNumber& of_a, const RanksByNumber& of_b) {
  const bool both_predicted = a.kind != "measured" && b.kind != "measured";
  return std::all_of(of_a.begin(), of_a.end(), [&](const auto& entry) {
    const auto [number, rank] = entry;
    const auto other = of_b.find(number);
    if (other == of_b.end()) return true;
    if (both_predicted && rank.represents != other->second.represents) return false;
    return rank.pipeline_rank == other->second.pipeline_rank || stages_of(a, number) == stages_of(b, number);
  });
}

}  // namespace

std::vector<RankPair> pair_ranks(const Trace& a, const Trace& b) {
  RanksByNumber left_of_a = by_number(a), left_of_b = by_number(b);
  std::vector<RankPair> pairs;
  if (numbers_mean_the_same(a, b, left_of_a, left_of_b)) {
    for (const TraceRank& rank : a.ranks) {
      if (left_of_b.erase(rank.rank) == 0) continue;
      left_of_a.erase(rank.rank);
      pairs.push_back({rank.rank, rank.rank});
    }
  }
  std::map<std::int32_t, std::deque<std::int32_t>> free;  // of b, by pipeline rank
  for (const auto& [number, rank] : left_of_b) free[rank.pipeline_rank].push_back(number);
  for (const auto& [number, rank] : left_of_a) {
    std::deque<std::int32_t>& there = free[rank.pipeline_rank];
    if (there.empty() || !share_a_stage(stages_of(a, number), stages_of(b, there.front()))) continue;
    pairs.push_back({number, there.front()});
    there.pop_front();
  }
  std::sort(pairs.begin(), pairs.end(), [](const RankPair& x, const RankPair& y) { return x.a < y.a; });
  return pairs;
}

}  // namespace stagecraft
