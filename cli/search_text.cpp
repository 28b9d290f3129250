#include "search_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/number_text.hpp"
#include "search/explain.hpp"

namespace stagecraft::cli {
namespace {

std::string line_of(const Ranked& ranked) {
  const PointFigures& figures = ranked.point.figures;
  return fmt::format("{:>10} {:>12} {:>7} {:>10}  {:<11} {}", duration(figures.step_time_s),
                     grouped(figures.tokens_per_s), percent(figures.mfu), gibibytes(figures.peak_memory_bytes),
                     ranked.timed_by == TimedBy::simulation ? "simulated" : "closed form", describe(ranked.candidate));
}

std::string head_of(const SearchRun& run) {
  const SearchResult& result = run.result;
  std::string text = fmt::format("{}: {} candidates\n", run.title, grouped(static_cast<double>(result.candidates)));
  text += fmt::format(
      "  {} cannot run, {} do not fit in memory ({} kept free), {} are timed in closed form, {} cannot be better by "
      "their bound, {} are simulated\n",
      result.infeasible.size(), result.too_large.size(), percent(run.context.memory_reserve), result.timed,
      result.pruned.size(), result.simulated);
  return text;
}

std::string verdict_of(const SearchRun& run) {
  const SearchResult& result = run.result;
  std::string text;
  if (result.ties > 1) {
    text += fmt::format("Tie: the first {} are equally good.\n", result.ties);
  } else if (result.margin > 0) {
    text += fmt::format("The first is better than the second by {}.\n",
                        result.margin < 0.001 ? "less than 0.1 %" : percent(result.margin));
  }
  if (!result.proved)
    text += fmt::format("Not proved: candidates whose bound is better were not simulated; raise --simulate above {}.\n",
                        run.options.most_simulations);
  return text;
}

std::string sensitivity_text(const std::vector<Sensitivity>& lines) {
  std::string text = "\nIf a figure behind it is off (closed form):\n";
  for (const Sensitivity& line : lines) {
    text += fmt::format("  {:<20}", line.what);
    if (line.step_s <= 0) {
      text += "nothing fits\n";
    } else if (line.same_winner) {
      text += fmt::format("the same winner, {}\n", duration(line.step_s));
    } else if (line.step_of_first_s > 0) {
      text += fmt::format("{} instead of {}: {}\n", duration(line.step_s), duration(line.step_of_first_s),
                          describe(line.winner));
    } else {
      text += fmt::format("it no longer fits; {}: {}\n", duration(line.step_s), describe(line.winner));
    }
  }
  return text;
}

std::string reasons_text(const SearchResult& result) {
  const std::vector<CommonReason> reasons = common_reasons(result);
  if (reasons.empty()) return "";
  std::string text = "\nWhy others cannot run (`--format csv` has every one):\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(reasons.size(), 5); ++i)
    text += fmt::format("  {} x  {}\n", reasons[i].count, wrapped(reasons[i].text, 110, 6));
  return text;
}

}  // namespace

std::string search_text(const SearchRun& run, const std::vector<Sensitivity>& sensitivity, std::size_t lines) {
  const SearchResult& result = run.result;
  std::string text = head_of(run);
  if (result.ranking.empty()) {
    text += result.too_large.empty() ? "\nNothing can run." : "\nNothing fits.";
    const auto least = std::min_element(
        result.too_large.begin(), result.too_large.end(),
        [](const auto& a, const auto& b) { return a.judgement.peak_memory_bytes < b.judgement.peak_memory_bytes; });
    if (least != result.too_large.end())
      text += fmt::format(" The least memory is {} of {}: {}", gibibytes(least->judgement.peak_memory_bytes),
                          gibibytes(least->judgement.memory_limit_bytes), describe(least->candidate));
    return text + "\n" + reasons_text(result);
  }
  text += fmt::format("\n     {:>10} {:>12} {:>7} {:>10}  {:<11} {}\n", "step time", "tokens/s", "MFU", "memory", "by",
                      "layout");
  for (std::size_t i = 0; i < std::min(lines, result.ranking.size()); ++i)
    text += fmt::format("{:>3}. {}\n", i + 1, line_of(result.ranking[i]));
  text += "\n" + verdict_of(run);
  if (run.options.objectives.size() > 1) {
    text += fmt::format("\nPareto front of {}:\n", fmt::join(run.options.objectives, ", "));
    for (const Ranked& ranked : result.front) text += "     " + line_of(ranked) + "\n";
  }
  text += "\nWhy the first one:\n  " + wrapped(winner_paragraph(result, run.context.scenario), 116, 2) + "\n";
  if (!sensitivity.empty()) text += sensitivity_text(sensitivity);
  return text + reasons_text(result);
}

std::vector<Point> search_points(const SearchResult& result) {
  std::vector<Point> points;
  for (const auto* list : {&result.ranking, &result.pruned, &result.too_large, &result.infeasible}) {
    for (const Ranked& ranked : *list) {
      points.push_back(ranked.point);
      Point& point = points.back();
      if (ranked.timed_by == TimedBy::bound && point.status == PointStatus::ok)
        point.reason = "not timed: step time is a lower bound";
      if (ranked.timed_by == TimedBy::bound && point.status == PointStatus::does_not_fit)
        point.reason = "does not fit in memory; step time is a lower bound";
    }
  }
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.number < b.number; });
  return points;
}

}  // namespace stagecraft::cli
