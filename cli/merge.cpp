// stagecraft merge: the journals of a sweep's shards become one table.

#include <fmt/format.h>

#include <algorithm>

#include "base/input_error.hpp"
#include "exit_code.hpp"
#include "search_verbs.hpp"
#include "sweep_output.hpp"

namespace stagecraft::cli {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& got, const std::string& expected) {
  throw InputError(InputProblem{file, 0, 0, "", got, expected, ""});
}

bool same_sweep(const SweepIdentity& a, const SweepIdentity& b) {
  const auto same_axis = [](const SweepAxis& x, const SweepAxis& y) {
    return x.path == y.path && x.values == y.values;
  };
  return a.inputs == b.inputs && a.kind == b.kind && a.fixed == b.fixed && a.objectives == b.objectives &&
         std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(), same_axis);
}

void add_points(JournalContent& all, JournalContent more, const std::string& file) {
  for (auto& [number, point] : more.points) {
    const auto known = all.points.find(number);
    const bool replaces = known == all.points.end() || known->second.status == PointStatus::failed;
    if (!replaces && point.status != PointStatus::failed && point_line(known->second) != point_line(point))
      refuse(file, fmt::format("other figures for point {} than the journals before it", number), "the same, or none");
    if (replaces) all.points.insert_or_assign(number, std::move(point));
  }
}

void refuse_gaps(const JournalContent& all) {
  const std::int64_t total = count_points(all.identity.axes);
  const auto missing = total - static_cast<std::int64_t>(all.points.size());
  if (missing == 0) return;
  std::int64_t first = 0;
  while (all.points.contains(first)) ++first;
  refuse("merge",
         fmt::format("{} of {} points, {} missing, the first one point {}", all.points.size(), total, missing, first),
         "the journals of all shards, each finished (sweep --shard I/N --resume)");
}

}  // namespace

int run_merge(const Words& words, const Console& console) {
  std::vector<std::string> journals;
  SweepOutput where;
  const auto app =
      make_app("merge", "Joins the journals of a sweep's shards into one table, as one sweep would write it.",
               {{"merge part-*.csv.journal --output all.csv --format csv", ""},
                {"merge part-*.csv.journal --pareto front.svg", "a table, and the front as a picture"}});
  app->add_option("JOURNAL", journals, "Journals of shards of one sweep")->required();
  add_sweep_output(*app, where);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  keep_apart(journals, {{"--output", where.output}, {"--pareto", where.svg}});

  JournalContent all = read_journal(journals.front());
  if (all.whole_bytes == 0) refuse(journals.front(), "an empty file", "a journal of stagecraft sweep");
  for (std::size_t i = 1; i < journals.size(); ++i) {
    JournalContent more = read_journal(journals[i]);
    if (!same_sweep(all.identity, more.identity))
      refuse(journals[i], "a journal of another sweep than " + journals.front(), "shards of one sweep");
    add_points(all, std::move(more), journals[i]);
  }
  refuse_gaps(all);
  if (!where.svg.empty() && all.identity.objectives.size() < 2)
    throw UsageError("--pareto draws two objectives, and this sweep has one");
  std::vector<Point> points;
  for (auto& [number, point] : all.points) points.push_back(std::move(point));
  write_points(all.identity, std::move(points), where, console);
  return ok;
}

}  // namespace stagecraft::cli
