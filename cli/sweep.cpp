// stagecraft sweep: the same scenario over and over with other values, on worker processes.

#include <fmt/format.h>

#include <algorithm>

#include "exit_code.hpp"
#include "input_checksum.hpp"
#include "progress.hpp"
#include "search_verbs.hpp"
#include "sweep_output.hpp"
#include "sweep_point.hpp"
#include "worker_pool.hpp"

namespace stagecraft::cli {
namespace {

Shard shard_of(const std::string& text) {
  if (text.empty()) return {};
  if (const std::optional<Shard> shard = parse_shard(text)) return *shard;
  throw UsageError(fmt::format("--shard: got {}, expected INDEX/COUNT with INDEX from 1 to COUNT, as in 2/8", text));
}

struct SweepOptions {
  std::string file, shard;
  std::vector<std::string> overrides, vary, objectives;
  bool estimate = false, progress = false;
  JournalOptions journal;
  int workers = 0;
  SweepOutput where;
};

std::vector<std::string> all_overrides(const SweepOptions& options, const std::vector<SweepAxis>& axes,
                                       std::int64_t point) {
  std::vector<std::string> overrides = options.overrides;
  for (std::string& more : overrides_of_point(axes, point)) overrides.push_back(std::move(more));
  return overrides;
}

/// Loading the first point finds mistakes in paths before any work starts.
SweepIdentity identify(const SweepOptions& options, const Console& console, std::vector<std::string>& files) {
  SweepIdentity identity;
  identity.scenario = options.file;
  identity.kind = options.estimate ? "estimated" : "predicted";
  identity.fixed = options.overrides;
  for (const std::string& text : options.vary) identity.axes.push_back(parse_axis(text));
  identity.objectives = options.objectives;
  identity.shard = shard_of(options.shard);
  (void)objectives_of(options.objectives);
  (void)count_points(identity.axes);
  const Library library = default_library(console.executable);
  identity.inputs =
      input_checksum(load_scenario(options.file, all_overrides(options, identity.axes, 0), library), library, files);
  return identity;
}

/// Of its shard, the points that are not there yet. Those whose process died are tried again.
std::vector<std::int64_t> points_left(const SweepIdentity& identity, const std::map<std::int64_t, Point>& found) {
  std::vector<std::int64_t> left;
  const std::int64_t total = count_points(identity.axes);
  for (std::int64_t number = identity.shard.index - 1; number < total; number += identity.shard.count) {
    const auto known = found.find(number);
    if (known == found.end() || known->second.status == PointStatus::failed) left.push_back(number);
  }
  return left;
}

void run_points(const SweepOptions& options, const std::vector<SweepAxis>& axes, const std::vector<std::int64_t>& left,
                std::optional<Journal>& journal, std::map<std::int64_t, Point>& points, const Console& console) {
  Progress progress(static_cast<std::int64_t>(left.size()), "points", options.progress);
  PoolWork pool;
  pool.fresh = !options.estimate;  // SimGrid's clock runs on, and the last bits of times with it
  pool.work = [&](std::int64_t number) {
    RehearsalOptions how{options.file, all_overrides(options, axes, number), options.estimate, false};
    return point_line(rehearse_point(number, values_of_point(axes, number), how, console));
  };
  pool.done = [&](std::int64_t number, const std::string* result, const std::string& how) {
    Point point;
    if (result != nullptr) {
      point = read_point_line(*result, "a worker's result");
    } else {
      point = {number, values_of_point(axes, number), PointStatus::failed, {}, how, false};
    }
    if (journal) journal->append(point_line(point));
    points.insert_or_assign(number, std::move(point));
    progress.advance();
  };
  run_pool(left, options.workers > 0 ? options.workers : usable_processors(), pool);
  progress.finish();
}

void refuse_contradictions(SweepOptions& options) {
  if (options.vary.empty())
    throw UsageError("sweep: nothing to vary; give --vary PATH=VALUES, as in --vary batch.micro=1,2,4");
  settle_journal(options.journal, options.where.output, "sweep");
  if (options.objectives.empty()) options.objectives = {"tokens_per_s", "peak_memory_bytes"};
  if (!options.where.svg.empty() && options.objectives.size() < 2)
    throw UsageError("--pareto draws two objectives; give --objective twice");
#ifndef STAGECRAFT_HAVE_SIM
  if (!options.estimate)
    throw UsageError("this program was built without SimGrid and cannot simulate; add --estimate for the closed form");
#endif
}

void add_options(CLI::App& app, SweepOptions& options) {
  app.add_option("FILE", options.file, "A scenario")->required();
  add_overrides(app, options.overrides);
  app.add_option("--vary", options.vary,
                 "An axis: a list 1,2,4, a range 1..8 or 1..8+2, or powers 1..64*2; may be repeated")
      ->type_name("PATH=VALUES")
      ->allow_extra_args(false);
  app.add_flag("--estimate", options.estimate, "Closed form instead of simulation");
  app.add_option("--objective", options.objectives,
                 "A column that the Pareto front is drawn for; may be repeated (tokens_per_s and peak_memory_bytes)")
      ->type_name("COLUMN")
      ->allow_extra_args(false);
  app.add_option("--workers", options.workers, "Worker processes (as many as there are processors)")
      ->type_name("N")
      ->check(number_between(1, 1024));
  app.add_flag("--progress", options.progress, "A line with rate and time left every second, for programs that watch");
  add_journal_options(app, options.journal, "sweep");
  app.add_option("--shard", options.shard, "Only the I-th of N parts of the points, from 1; see stagecraft merge")
      ->type_name("I/N");
  add_sweep_output(app, options.where);
}

}  // namespace

int run_sweep(const Words& words, const Console& console) {
  SweepOptions options;
  const auto app =
      make_app("sweep", "Rehearses a scenario at every combination of some of its values.",
               {{"sweep scenarios/gpt-145b-selene.json --vary parallel.pipeline=8,16 --vary batch.micro=1..4*2", ""},
                {"sweep my.json --vary parallel.tensor=1..8*2 --output out.csv --format csv --pareto front.svg",
                 "finished points are kept in out.csv.journal as they come"},
                {"sweep my.json --vary parallel.tensor=1..8*2 --output out.csv --format csv --resume",
                 "go on after Ctrl+C, kill -9 or a crash"},
                {"sweep my.json --vary batch.micro=1..64 --shard 3/8 --output part-3.csv",
                 "one of eight jobs; stagecraft merge joins their journals"}});
  add_options(*app, options);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  refuse_contradictions(options);
  (void)shard_of(options.shard);  // a mistake in it comes before those in files
  const std::vector<Written> written{
      {"--output", options.where.output}, {"--pareto", options.where.svg}, {"--journal", options.journal.path}};
  keep_apart({options.file}, written);

  std::vector<std::string> files;
  const SweepIdentity identity = identify(options, console, files);
  keep_apart(files, written);
  std::map<std::int64_t, Point> found;
  std::optional<Journal> journal = open_journal(options.journal, identity, [&](const std::string& line) {
    Point point = read_journal_point(line, identity, options.journal.path);
    found.insert_or_assign(point.number, std::move(point));
  });
  const std::vector<std::int64_t> left = points_left(identity, found);
  if (options.journal.resume)
    console.message("sweep", fmt::format("{} points are there, {} are left", found.size(), left.size()));
  run_points(options, identity.axes, left, journal, found, console);

  std::vector<Point> points;
  for (auto& [number, point] : found) points.push_back(std::move(point));
  write_points(identity, std::move(points), options.where, console);
  return ok;
}

}  // namespace stagecraft::cli
