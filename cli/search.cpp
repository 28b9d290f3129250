// stagecraft search: the best layout for a model on a cluster, and why not the others.

#include <fmt/format.h>

#include <algorithm>

#include "base/file_io.hpp"
#include "exit_code.hpp"
#include "search_text.hpp"
#include "search_verbs.hpp"
#include "sweep_output.hpp"

namespace stagecraft::cli {
namespace {

void check_source(const SearchRequest& request) {
  const bool parts = !request.model.empty() || !request.cluster.empty();
  if (request.file.empty() && !parts) throw UsageError("search: give a scenario FILE, or --model and --cluster");
  if (!request.file.empty() && parts)
    throw UsageError("a scenario FILE has its model and cluster; leave --model and --cluster out");
  if (parts && (request.model.empty() || request.cluster.empty()))
    throw UsageError("--model and --cluster go together");
  if (parts && request.global_batch == 0)
    throw UsageError("--model and --cluster need --global-batch, sequences per step");
}

PointTable table_of(const SearchRequest& request, const SearchRun& run) {
  PointTable table;
  table.scenario = request.file.empty() ? run.title : request.file;
  table.kind = request.estimate ? "estimated" : "predicted";
  table.fixed = request.overrides;
  for (const std::string& path : candidate_paths()) table.axes.push_back({path, {}});
  table.objectives = run.options.objectives;
  table.points = search_points(run.result);
  for (Point& point : table.points) {
    point.on_front = std::any_of(run.result.front.begin(), run.result.front.end(),
                                 [&](const Ranked& best) { return best.point.number == point.number; });
  }
  return table;
}

}  // namespace

int run_search(const Words& words, const Console& console) {
  SearchRequest request;
  std::string format, output, svg, write;
  const auto app = make_app(
      "search", "Finds the best layout for a model on a cluster, and says why not the others.",
      {{"search scenarios/gpt-145b-selene.json", "its model, GPUs and global batch; every layout"},
       {"search --model gpt-7.5b --cluster selene --gpus 64 --global-batch 512", "without a scenario"},
       {"search my.json --vary parallel.tensor=4,8 --vary recompute=selective,full", "a smaller space"},
       {"search my.json --objective tokens_per_s --objective peak_memory_bytes --pareto front.svg", "a Pareto front"},
       {"search my.json --output all.csv --format csv --resume",
        "go on after Ctrl+C, kill -9 or a crash; what was computed is in all.csv.journal"},
       {"search my.json --write best.json", "the winner as a scenario"}});
  app->add_option("FILE", request.file, "A scenario; its degrees are only a start");
  app->add_option("--model", request.model, "A model instead of a scenario")->type_name("MODEL");
  app->add_option("--cluster", request.cluster, "A cluster instead of a scenario")->type_name("CLUSTER");
  app->add_option("--gpus", request.gpus, "GPUs to use, all of them (those of the cluster)")
      ->type_name("N")
      ->check(number_between(1, 16'777'216));
  app->add_option("--global-batch", request.global_batch, "Sequences per step")
      ->type_name("N")
      ->check(number_between(1, 16'777'216));
  add_search_options(*app, request);
  app->add_option("--write", write, "Write the winner as a scenario")->type_name("FILE");
  app->add_option("--pareto", svg, "Write a scatter of the first two objectives as SVG")->type_name("FILE");
  add_journal_options(*app, request.journal, "search");
  add_format(*app, format, {"text", "csv", "json", "md"});
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  check_source(request);
  if (!svg.empty() && request.objectives.size() < 2)
    throw UsageError("--pareto draws two objectives; give --objective twice");
  settle_journal(request.journal, output, "search");
  request.written = {{"--output", output}, {"--pareto", svg}, {"--write", write}, {"--journal", request.journal.path}};
  keep_apart({request.file}, request.written);

  const SearchRun run = run_request(request, console);
  std::string text;
  if (format == "text") {
    const auto sensitivity =
        run.result.ranking.empty() ? std::vector<Sensitivity>{} : sensitivities(run.context, run.result, run.options);
    text = search_text(run, sensitivity, 10);
  } else {
    const PointTable table = table_of(request, run);
    text = format == "csv" ? points_csv(table) : format == "json" ? points_json(table) : points_markdown(table);
  }
  if (!svg.empty()) write_output(console, svg, front_svg(table_of(request, run)));
  if (!write.empty() && !run.result.ranking.empty()) {
    const Ranked& winner = run.result.ranking.front();
    write_output(
        console, write,
        candidate_scenario(request, run, winner.candidate, "Best of a search: " + describe(winner.candidate), write));
  }
  write_output(console, output, text);
  if (!run.result.ranking.empty()) return ok;
  return run.result.too_large.empty() ? invalid_input : does_not_fit;
}

}  // namespace stagecraft::cli
