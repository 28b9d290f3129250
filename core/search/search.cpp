#include "search/search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>
#include <tuple>

#include "base/input_error.hpp"
#include "estimate/training_run.hpp"

namespace stagecraft {
namespace {

using Columns = std::vector<const PointColumn*>;

std::int64_t gpus_of(const Candidate& candidate) {
  const ParallelSpec& parallel = candidate.parallel;
  return parallel.tensor * parallel.context * parallel.data * parallel.pipeline;
}

double merit(const PointFigures& figures, const PointColumn& objective) {
  const double value = figures.*objective.member;
  return objective.more_is_better ? value : -value;
}

/// Calls `work(thread's cache and scenario, index)` for every index, in blocks that follow each other.
template <class Work>
void in_parallel(const SearchContext& context, std::size_t count, int threads, Work&& work) {
  constexpr std::size_t block = 32;
  std::atomic<std::size_t> next{0};
  const auto serve = [&] {
    Scenario scenario = context.scenario;
    ScheduleCache cache;
    for (std::size_t begin = next.fetch_add(block); begin < count; begin = next.fetch_add(block)) {
      for (std::size_t i = begin; i < std::min(count, begin + block); ++i) work(scenario, cache, i);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(serve);
  serve();
  for (std::thread& other : others) other.join();
}

/// What an interrupted search found out of the candidate at that level; nullptr if nothing.
template <class Found>
const Found* known_of(const SearchOptions& options, std::map<std::int64_t, Found> SearchRecord::*level,
                      const Ranked& ranked) {
  if (options.known == nullptr) return nullptr;
  const std::map<std::int64_t, Found>& found = options.known->*level;
  const auto at = found.find(options.first_number + ranked.point.number);
  return at == found.end() ? nullptr : &at->second;
}

void tell(const SearchOptions& options, const SearchRecord& news) {
  if (options.found && !news.empty()) options.found(news);
}

void enter(Ranked& ranked, const Judgement& judgement) {
  ranked.judgement = judgement;
  ranked.timed_by = judgement.reason.empty() ? TimedBy::bound : TimedBy::nothing;
  ranked.point.values = candidate_values(ranked.candidate);
}

/// Candidates in an order that judges alike ones together, without those that are known.
std::vector<Ranked*> left_to_judge(const SearchContext& context, std::vector<Ranked>& all,
                                   const SearchOptions& options) {
  std::vector<Ranked*> left;
  for (Ranked& ranked : all) {
    const Judgement* const known = known_of(options, &SearchRecord::judged, ranked);
    if (known == nullptr) {
      left.push_back(&ranked);
      continue;
    }
    enter(ranked, *known);
    if (known->reason.empty()) ranked.judgement.training = &context.scenario.run.training;
  }
  std::stable_sort(left.begin(), left.end(),
                   [](const Ranked* a, const Ranked* b) { return schedule_comes_before(a->candidate, b->candidate); });
  return left;
}

/// At once, or in rounds of a second or so if somebody keeps what is found.
std::vector<Ranked> judge_all(const SearchContext& context, const std::vector<Candidate>& candidates,
                              const SearchOptions& options) {
  std::vector<Ranked> all(candidates.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].candidate = candidates[i];
    all[i].point.number = static_cast<std::int64_t>(i);
  }
  const std::vector<Ranked*> left = left_to_judge(context, all, options);
  const std::size_t round = options.found ? std::size_t{256} * static_cast<std::size_t>(options.threads) : left.size();
  std::atomic<std::int64_t> done{0};
  for (std::size_t begin = 0; begin < left.size(); begin += round) {
    const std::size_t end = std::min(left.size(), begin + round);
    in_parallel(context, end - begin, options.threads, [&](Scenario& scenario, ScheduleCache& cache, std::size_t i) {
      Ranked& ranked = *left[begin + i];
      enter(ranked, judge(context, scenario, ranked.candidate, cache));
      const std::int64_t now = ++done;
      if (options.progress && now % 256 == 0) options.progress(now, static_cast<std::int64_t>(left.size()));
    });
    SearchRecord news;
    for (std::size_t i = begin; i < end && options.found; ++i)
      news.judged[options.first_number + left[i]->point.number] = left[i]->judgement;
    tell(options, news);
  }
  return all;
}

void update(Ranked& ranked) {
  ranked.point.figures = figures_at(ranked.judgement, ranked.candidate, step_seconds(ranked));
}

/// How many of `timed` are as good as the candidate could be, in all objectives.
class Pruner {
 public:
  Pruner(const Columns& objectives, std::int64_t keep) : objectives_(objectives), keep_(keep) {}

  void add(const PointFigures& figures) { timed_.push_back(figures); }

  bool prunes(const PointFigures& at_bound) const {
    std::int64_t better = 0;
    for (const PointFigures& figures : timed_) {
      const bool as_good = std::all_of(objectives_.begin(), objectives_.end(), [&](const PointColumn* objective) {
        return merit(figures, *objective) >= merit(at_bound, *objective);
      });
      if (as_good && ++better >= keep_) return true;
    }
    return false;
  }

 private:
  const Columns& objectives_;
  std::int64_t keep_;
  std::vector<PointFigures> timed_;
};

PointFigures at_bound(const Ranked& ranked) {
  return figures_at(ranked.judgement, ranked.candidate, ranked.judgement.bound_s);
}

/// Best first by what their bounds allow.
std::vector<Ranked*> by_bound(std::vector<Ranked>& fitting, const PointColumn& first) {
  std::vector<Ranked*> order;
  for (Ranked& ranked : fitting) order.push_back(&ranked);
  std::stable_sort(order.begin(), order.end(), [&](const Ranked* a, const Ranked* b) {
    return merit(at_bound(*a), first) > merit(at_bound(*b), first);
  });
  return order;
}

/// Those that are not known, in closed form.
void time_round(const SearchContext& context, const std::vector<Ranked*>& round, const SearchOptions& options) {
  std::vector<Ranked*> left;
  const auto enter_time = [](Ranked& ranked, double seconds) {
    ranked.closed_form_s = seconds;
    ranked.timed_by = TimedBy::closed_form;
    update(ranked);
  };
  for (Ranked* ranked : round) {
    const double* const known = known_of(options, &SearchRecord::closed_form_s, *ranked);
    if (known == nullptr) {
      left.push_back(ranked);
    } else {
      enter_time(*ranked, *known);
    }
  }
  in_parallel(context, left.size(), options.threads, [&](Scenario& scenario, ScheduleCache& cache, std::size_t i) {
    enter_time(*left[i], closed_form_s(context, scenario, left[i]->candidate, cache));
  });
  SearchRecord news;
  for (const Ranked* ranked : left)
    news.closed_form_s[options.first_number + ranked->point.number] = ranked->closed_form_s;
  tell(options, news);
}

/// In rounds of a fixed size, so that the number of threads does not change what is timed.
void time_in_closed_form(const SearchContext& context, const std::vector<Ranked*>& order, const Columns& objectives,
                         const SearchOptions& options, SearchResult& result) {
  constexpr std::size_t round = 64;
  Pruner pruner(objectives, std::max<std::int64_t>(options.keep, 1));
  for (std::size_t begin = 0; begin < order.size(); begin += round) {
    std::vector<Ranked*> unpruned;
    for (std::size_t i = begin; i < std::min(order.size(), begin + round); ++i) {
      if (!pruner.prunes(at_bound(*order[i]))) unpruned.push_back(order[i]);
    }
    std::stable_sort(unpruned.begin(), unpruned.end(), [](const Ranked* a, const Ranked* b) {
      return schedule_comes_before(a->candidate, b->candidate);
    });
    time_round(context, unpruned, options);
    for (const Ranked* ranked : unpruned) pruner.add(ranked->point.figures);
    result.timed += static_cast<std::int64_t>(unpruned.size());
  }
}

double simulated_s(const Ranked& ranked, const SearchOptions& options, const Simulate& simulate) {
  if (const double* const known = known_of(options, &SearchRecord::simulated_s, ranked)) return *known;
  SearchRecord news;
  const double seconds = simulate(ranked.candidate);
  news.simulated_s[options.first_number + ranked.point.number] = seconds;
  tell(options, news);
  return seconds;
}

/// Best first by what is known of them. Returns whether all that could win were simulated.
bool simulate_head(std::vector<Ranked*> fitting, const Columns& objectives, const SearchOptions& options,
                   const Simulate& simulate, SearchResult& result) {
  std::stable_sort(fitting.begin(), fitting.end(), [&](const Ranked* a, const Ranked* b) {
    return merit(a->point.figures, *objectives[0]) > merit(b->point.figures, *objectives[0]);
  });
  Pruner pruner(objectives, 1);
  bool proved = true;
  for (Ranked* ranked : fitting) {
    const bool among_first = result.simulated < std::min<std::int64_t>(2, options.most_simulations);
    if (!among_first && pruner.prunes(at_bound(*ranked))) continue;
    if (result.simulated == options.most_simulations) {
      proved = false;
      break;
    }
    ranked->simulated_s = simulated_s(*ranked, options, simulate);
    ranked->timed_by = TimedBy::simulation;
    ++result.simulated;
    update(*ranked);
    pruner.add(ranked->point.figures);
  }
  return proved;
}

void rank(std::vector<Ranked>& ranking, const PointColumn& first) {
  std::stable_sort(ranking.begin(), ranking.end(), [&](const Ranked& a, const Ranked& b) {
    const bool a_simulated = a.timed_by == TimedBy::simulation, b_simulated = b.timed_by == TimedBy::simulation;
    if (a_simulated != b_simulated) return a_simulated;
    const double left = merit(a.point.figures, first), right = merit(b.point.figures, first);
    return left != right ? left > right : a.point.number < b.point.number;
  });
}

void tell_margin(SearchResult& result, const PointColumn& first) {
  constexpr double equal = 1e-9;
  const double best = merit(result.ranking.front().point.figures, first);
  for (std::size_t i = 1; i < result.ranking.size(); ++i) {
    if (result.ranking[i].timed_by != result.ranking.front().timed_by) break;
    const double worse = best != 0 ? (best - merit(result.ranking[i].point.figures, first)) / std::abs(best) : 0;
    if (worse <= equal) {
      ++result.ties;
      continue;
    }
    result.margin = worse;
    break;
  }
}

/// A search knows time and memory of a candidate, and what follows from them.
void refuse_unknown_at_bound(const PointColumn& objective, const TrainingSpec& training) {
  const auto is = [&](double PointFigures::*member) { return objective.member == member; };
  const auto refuse = [&](const char* needs) {
    throw InputError(InputProblem{"--objective", 0, 0, "", objective.key, needs, ""});
  };
  if (is(&PointFigures::cost_per_million_tokens) && training.price_per_gpu_hour <= 0) {
    refuse("a price in the scenario: training.price_per_gpu_hour");
  }
  if (is(&PointFigures::training_time_s) && training.tokens <= 0) {
    refuse("a budget in the scenario: training.tokens");
  }
  const bool known = !is(&PointFigures::bubble_fraction) && !is(&PointFigures::memory_limit_bytes) &&
                     !is(&PointFigures::gpus) && !is(&PointFigures::joules_per_token) && !is(&PointFigures::goodput);
  if (known) return;
  throw InputError(InputProblem{
      "--objective", 0, 0, "", objective.key,
      "step_time_s, a rate, peak_memory_bytes, cost_per_million_tokens or training_time_s: what time and memory decide",
      ""});
}

void mark_front_of(SearchResult& result, const Columns& objectives) {
  std::vector<Point> points;
  for (const Ranked& ranked : result.ranking) points.push_back(ranked.point);
  mark_front(points, objectives);
  for (std::size_t i = 0; i < points.size(); ++i) {
    result.ranking[i].point.on_front = points[i].on_front;
    if (points[i].on_front) result.front.push_back(result.ranking[i]);
  }
}

}  // namespace

double step_seconds(const Ranked& ranked) {
  switch (ranked.timed_by) {
    case TimedBy::simulation:
      return ranked.simulated_s;
    case TimedBy::closed_form:
      return ranked.closed_form_s;
    case TimedBy::bound:
    case TimedBy::nothing:
      break;
  }
  return ranked.judgement.bound_s;
}

PointFigures figures_at(const Judgement& judgement, const Candidate& candidate, double seconds) {
  const auto gpus = static_cast<double>(gpus_of(candidate));
  PointFigures figures;
  figures.gpus = gpus;
  figures.peak_memory_bytes = judgement.peak_memory_bytes;
  figures.memory_limit_bytes = judgement.memory_limit_bytes;
  figures.step_time_s = seconds;
  if (seconds <= 0) return figures;
  figures.tokens_per_s = judgement.tokens / seconds;
  figures.tokens_per_s_per_gpu = judgement.tokens / gpus / seconds;
  figures.tflops_per_gpu = judgement.model_flops / gpus / seconds / 1e12;
  figures.mfu = judgement.model_flops / gpus / judgement.peak_flops / seconds;
  figures.hfu = judgement.hardware_flops / gpus / judgement.peak_flops / seconds;
  if (judgement.training == nullptr) return figures;
  const TrainingRun run = training_run(*judgement.training, {seconds, judgement.tokens, gpus, 0, 0});
  figures.goodput = run.goodput;
  figures.training_time_s = run.time_s;
  figures.cost_per_million_tokens = run.cost_per_million_tokens;
  return figures;
}

std::vector<const PointColumn*> search_objectives(const std::vector<std::string>& keys, const TrainingSpec& training) {
  const Columns objectives = objectives_of(keys);
  for (const PointColumn* objective : objectives) refuse_unknown_at_bound(*objective, training);
  return objectives;
}

SearchResult search(const SearchContext& context, const std::vector<Candidate>& candidates,
                    const SearchOptions& options, const Simulate& simulate) {
  const Columns objectives = search_objectives(options.objectives, context.scenario.run.training);
  SearchResult result;
  result.candidates = static_cast<std::int64_t>(candidates.size());
  std::vector<Ranked> fitting;
  for (Ranked& ranked : judge_all(context, candidates, options)) {
    if (!ranked.judgement.reason.empty()) {
      ranked.point.status = PointStatus::infeasible;
      ranked.point.reason = ranked.judgement.reason;
      result.infeasible.push_back(std::move(ranked));
    } else if (!ranked.judgement.fits) {
      ranked.point.status = PointStatus::does_not_fit;
      ranked.point.reason = "does not fit in memory";
      update(ranked);
      result.too_large.push_back(std::move(ranked));
    } else {
      fitting.push_back(std::move(ranked));
    }
  }
  time_in_closed_form(context, by_bound(fitting, *objectives[0]), objectives, options, result);
  std::vector<Ranked*> all;
  for (Ranked& ranked : fitting) {
    update(ranked);
    all.push_back(&ranked);
  }
  result.proved = true;
  if (options.most_simulations > 0 && simulate)
    result.proved = simulate_head(std::move(all), objectives, options, simulate, result);

  for (Ranked& ranked : fitting) {
    auto& place = ranked.timed_by >= TimedBy::closed_form ? result.ranking : result.pruned;
    place.push_back(std::move(ranked));
  }
  if (result.ranking.empty()) return result;
  rank(result.ranking, *objectives[0]);
  tell_margin(result, *objectives[0]);
  mark_front_of(result, objectives);
  return result;
}

}  // namespace stagecraft
