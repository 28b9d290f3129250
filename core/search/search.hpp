#pragma once
// The best candidates: findings and memory prune, the bound orders, the closed form ranks, a simulation decides.

#include <cstdint>
#include <functional>
#include <vector>

#include "search/evaluate.hpp"
#include "search/point.hpp"
#include "search/search_record.hpp"

namespace stagecraft {

/// Seconds of a step, simulated.
using Simulate = std::function<double(const Candidate&)>;

struct SearchOptions {
  std::vector<std::string> objectives = {"tokens_per_s"};  // keys of point_columns; the first one ranks
  std::int64_t keep = 10;                                  // how many of the ranking are timed exactly
  std::int64_t most_simulations = 24;                      // 0: the closed form decides
  int threads = 1;
  std::function<void(std::int64_t done, std::int64_t total)> progress;  // of the candidates that are left to judge
  const SearchRecord* known = nullptr;                                  // of an interrupted search; not computed again
  std::function<void(const SearchRecord& news)> found;  // what was computed, as it comes, on the calling thread
  std::int64_t first_number = 0;                        // of the candidates, in both records
};

enum class TimedBy : std::uint8_t { nothing, bound, closed_form, simulation };

struct Ranked {
  Candidate candidate;
  Judgement judgement;
  TimedBy timed_by = TimedBy::nothing;
  double closed_form_s = 0, simulated_s = 0;
  Point point;  // number: position in the list of candidates
};

/// Seconds of a step by the best that is known of the candidate.
double step_seconds(const Ranked& ranked);

struct SearchResult {
  std::vector<Ranked> ranking;     // timed candidates that fit, best first by the first objective, ties by number
  std::vector<Ranked> front;       // of those, the Pareto front of all objectives
  std::vector<Ranked> pruned;      // fit, and were not timed: their bound is worse; by number
  std::vector<Ranked> infeasible;  // cannot run, by number
  std::vector<Ranked> too_large;   // do not fit in memory, by number
  std::int64_t candidates = 0, timed = 0, simulated = 0;
  bool proved = false;    // no candidate that was left out can be better than the first: its bound is not
  double margin = 0;      // by which the first objective of the second one is worse, as a fraction; 0 if there is none
  std::int64_t ties = 1;  // candidates whose first objective is within 1e-9 of the first one's, itself included
};

/// A candidate is timed in closed form unless `keep` timed ones are already at least as good in every objective as it
/// could be at its bound; then the same with simulated times, until `most_simulations`. Deterministic for any number of
/// threads, and for any part of it known. Throws InputError for an unknown objective.
SearchResult search(const SearchContext& context, const std::vector<Candidate>& candidates,
                    const SearchOptions& options, const Simulate& simulate);

/// The columns of these keys. Throws InputError for one that is unknown, or that time and memory of a candidate do not
/// decide.
std::vector<const PointColumn*> search_objectives(const std::vector<std::string>& keys, const TrainingSpec& training);

/// What a candidate's figures are if its step takes `seconds`.
PointFigures figures_at(const Judgement& judgement, const Candidate& candidate, double seconds);

}  // namespace stagecraft
