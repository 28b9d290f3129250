// stagecraft sweep: the same scenario over and over with other values, on worker processes.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "calibration_files.hpp"
#include "exit_code.hpp"
#include "progress.hpp"
#include "search_verbs.hpp"
#include "sweep_output.hpp"
#include "sweep_point.hpp"
#include "trace/crc32.hpp"
#include "worker_pool.hpp"

namespace stagecraft::cli {
namespace {

struct Shard {
  std::int64_t index = 1, count = 1;
};

/// "2/8": the second of eight. Point n belongs to shard n mod count + 1.
Shard parse_shard(const std::string& text) {
  Shard shard;
  char rest = 0;
  const bool read = std::sscanf(text.c_str(), "%ld/%ld%c", &shard.index, &shard.count, &rest) == 2;
  if (!read || shard.count < 1 || shard.count > most_points_of_a_sweep || shard.index < 1 || shard.index > shard.count)
    throw UsageError(fmt::format("--shard: got {}, expected INDEX/COUNT with INDEX from 1 to COUNT, as in 2/8", text));
  return shard;
}

struct SweepOptions {
  std::string file, journal, shard;
  std::vector<std::string> overrides, vary, objectives;
  bool estimate = false, resume = false, restart = false, progress = false;
  int workers = 0;
  SweepOutput where;
};

std::vector<std::string> all_overrides(const SweepOptions& options, const std::vector<SweepAxis>& axes,
                                       std::int64_t point) {
  std::vector<std::string> overrides = options.overrides;
  for (std::string& more : overrides_of_point(axes, point)) overrides.push_back(std::move(more));
  return overrides;
}

/// Checksum of the files behind the first point; loading it finds mistakes in paths before any work starts.
std::string checksum_of_inputs(const SweepOptions& options, const std::vector<SweepAxis>& axes, const Console& console,
                               std::vector<std::string>& files) {
  const Library library = default_library(console.executable);
  const Scenario scenario = load_scenario(options.file, all_overrides(options, axes, 0), library);
  files = scenario.files;
  for (const std::string& file : calibration_files(scenario, library)) files.push_back(file);
  std::uint32_t sum = crc32("stagecraft " STAGECRAFT_VERSION);
  for (const std::string& file : files) sum = crc32(read_file(file), sum);
  return fmt::format("{:08x}", sum);
}

SweepIdentity identify(const SweepOptions& options, const Console& console, std::vector<std::string>& files) {
  SweepIdentity identity;
  identity.scenario = options.file;
  identity.kind = options.estimate ? "estimated" : "predicted";
  identity.fixed = options.overrides;
  for (const std::string& text : options.vary) identity.axes.push_back(parse_axis(text));
  identity.objectives = options.objectives;
  (void)objectives_of(options.objectives);
  (void)count_points(identity.axes);
  identity.inputs = checksum_of_inputs(options, identity.axes, console, files);
  return identity;
}

std::optional<Journal> open_journal(const SweepOptions& options, const SweepIdentity& identity, JournalContent& found) {
  if (options.journal.empty()) return std::nullopt;
  if (options.restart && file_exists(options.journal)) {
    (void)read_journal(options.journal);  // never throw away what is no journal
    std::filesystem::remove(options.journal);
  }
  if (options.resume) return Journal::resume(options.journal, identity, found);
  return Journal::create(options.journal, identity);
}

/// Of a shard, the points that are not there yet. Those whose process died are tried again.
std::vector<std::int64_t> points_left(const Shard& shard, std::int64_t total, const JournalContent& found) {
  std::vector<std::int64_t> left;
  for (std::int64_t number = shard.index - 1; number < total; number += shard.count) {
    const auto known = found.points.find(number);
    if (known == found.points.end() || known->second.status == PointStatus::failed) left.push_back(number);
  }
  return left;
}

void run_points(const SweepOptions& options, const std::vector<SweepAxis>& axes, const std::vector<std::int64_t>& left,
                std::optional<Journal>& journal, std::map<std::int64_t, Point>& points, const Console& console) {
  Progress progress(static_cast<std::int64_t>(left.size()), "points", options.progress);
  PoolWork pool;
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
    if (journal) journal->append(point);
    points.insert_or_assign(number, std::move(point));
    progress.advance();
  };
  run_pool(left, options.workers > 0 ? options.workers : usable_processors(), pool);
  progress.finish();
}

void refuse_contradictions(SweepOptions& options) {
  if (options.vary.empty())
    throw UsageError("sweep: nothing to vary; give --vary PATH=VALUES, as in --vary batch.micro=1,2,4");
  if (options.resume && options.restart) throw UsageError("--resume and --restart contradict each other");
  if (options.journal.empty() && !options.where.output.empty()) options.journal = options.where.output + ".journal";
  if ((options.resume || options.restart) && options.journal.empty())
    throw UsageError("--resume and --restart need the journal of a sweep: give --output or --journal as it was given");
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
  app.add_option("--journal", options.journal, "Where finished points are kept (OUTPUT.journal)")->type_name("FILE");
  app.add_flag("--resume", options.resume, "Go on with the journal of a sweep that was interrupted");
  app.add_flag("--restart", options.restart, "Throw the journal of an earlier sweep away");
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
  const Shard shard = options.shard.empty() ? Shard{} : parse_shard(options.shard);
  const std::vector<Written> written{
      {"--output", options.where.output}, {"--pareto", options.where.svg}, {"--journal", options.journal}};
  keep_apart({options.file}, written);

  std::vector<std::string> files;
  const SweepIdentity identity = identify(options, console, files);
  keep_apart(files, written);
  JournalContent found;
  std::optional<Journal> journal = open_journal(options, identity, found);
  const std::vector<std::int64_t> left = points_left(shard, count_points(identity.axes), found);
  if (options.resume)
    console.message("sweep", fmt::format("{} points are there, {} are left", found.points.size(), left.size()));
  run_points(options, identity.axes, left, journal, found.points, console);

  std::vector<Point> points;
  for (auto& [number, point] : found.points) {
    if (number % shard.count == shard.index - 1) points.push_back(std::move(point));
  }
  write_points(identity, std::move(points), options.where, console);
  return ok;
}

}  // namespace stagecraft::cli
