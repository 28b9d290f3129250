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

std::vector<Ranked> judge_all(const SearchContext& context, const std::vector<Candidate>& candidates,
                              const SearchOptions& options) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return schedule_comes_before(candidates[a], candidates[b]); });
  std::vector<Ranked> all(candidates.size());
  std::atomic<std::int64_t> done{0};
  in_parallel(context, order.size(), options.threads, [&](Scenario& scenario, ScheduleCache& cache, std::size_t i) {
    Ranked& ranked = all[order[i]];
    ranked.candidate = candidates[order[i]];
    ranked.judgement = judge(context, scenario, ranked.candidate, cache);
    ranked.timed_by = ranked.judgement.reason.empty() ? TimedBy::bound : TimedBy::nothing;
    ranked.point.number = static_cast<std::int64_t>(order[i]);
    ranked.point.values = candidate_values(ranked.candidate);
    const std::int64_t now = ++done;
    if (options.progress && now % 256 == 0) options.progress(now, static_cast<std::int64_t>(order.size()));
  });
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
    in_parallel(context, unpruned.size(), options.threads,
                [&](Scenario& scenario, ScheduleCache& cache, std::size_t i) {
                  unpruned[i]->closed_form_s = closed_form_s(context, scenario, unpruned[i]->candidate, cache);
                  unpruned[i]->timed_by = TimedBy::closed_form;
                  update(*unpruned[i]);
                });
    for (const Ranked* ranked : unpruned) pruner.add(ranked->point.figures);
    result.timed += static_cast<std::int64_t>(unpruned.size());
  }
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
    ranked->simulated_s = simulate(ranked->candidate);
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

SearchResult search(const SearchContext& context, const std::vector<Candidate>& candidates,
                    const SearchOptions& options, const Simulate& simulate) {
  const Columns objectives = objectives_of(options.objectives);
  for (const PointColumn* objective : objectives) refuse_unknown_at_bound(*objective, context.scenario.run.training);
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
