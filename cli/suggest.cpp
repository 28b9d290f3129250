// stagecraft suggest: from a model and a number of GPUs to a scenario that runs, with the reason for every degree.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "exit_code.hpp"
#include "report/number_text.hpp"
#include "search/explain.hpp"
#include "search_text.hpp"
#include "search_verbs.hpp"

namespace stagecraft::cli {
namespace {

/// Sequences that make about four million tokens, the batch of most published runs of this size (GPT-3: 3.2 million,
/// arXiv 2005.14165; LLaMA 2: 4 million, arXiv 2307.09288), as a multiple of the GPUs' largest power of two.
std::int64_t usual_global_batch(const ModelSpec& model, std::int64_t gpus) {
  const std::int64_t sequence = std::max<std::int64_t>(1, model.sequence_length);
  const std::int64_t wanted = std::max<std::int64_t>(1, (std::int64_t{1} << 22) / sequence);
  const auto unit = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(wanted)));
  const std::int64_t odd = gpus / (gpus & -gpus);  // a 3 in 1536 GPUs must divide the batch too
  return std::max<std::int64_t>(unit / static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(odd))), 1) *
         odd;
}

std::string other_budget(SearchRequest request, std::int64_t gpus, const SearchRun& run, const Console& console) {
  if (gpus < 1) return "";
  request.gpus = gpus;
  request.estimate = true;
  request.keep = 1;
  std::string text = fmt::format("  {} GPUs: ", grouped(static_cast<double>(gpus)));
  try {
    const SearchRun other = run_request(request, console);
    if (other.result.ranking.empty()) return text + "nothing fits\n";
    const Ranked& best = other.result.ranking.front();
    const double ratio = best.point.figures.tokens_per_s / run.result.ranking.front().point.figures.tokens_per_s;
    return text + fmt::format("{:.2f} times the tokens/s, MFU {}: {}\n", ratio, percent(best.point.figures.mfu),
                              describe(best.candidate));
  } catch (const UsageError&) {
    return text + fmt::format("no layout divides a global batch of {}\n", request.global_batch);
  }
}

std::string text_of(const SearchRequest& request, const SearchRun& run, const Console& console,
                    const std::string& json) {
  const Ranked& best = run.result.ranking.front();
  const PointFigures& figures = best.point.figures;
  std::string text =
      fmt::format("{}\n  {}\n  {} per step, {} tokens/s, MFU {}, {} of {} per GPU ({})\n\n", run.title,
                  describe(best.candidate), duration(figures.step_time_s), grouped(figures.tokens_per_s),
                  percent(figures.mfu), gibibytes(figures.peak_memory_bytes), gibibytes(figures.memory_limit_bytes),
                  best.timed_by == TimedBy::simulation ? "simulated" : "closed form");
  text += "Why:\n";
  for (const SettingReason& reason : explain_winner(run.result, run.context.scenario))
    text += "  " + wrapped(reason.text, 116, 4) + "\n";
  text += "\nOther budgets, same global batch (closed form):\n";
  text += other_budget(request, run.gpus / 2, run, console);
  text += other_budget(request, run.gpus * 2, run, console);
  return text + "\nThe scenario:\n" + json;
}

}  // namespace

int run_suggest(const Words& words, const Console& console) {
  SearchRequest request;
  std::string format, write, output;
  request.cluster = "eos";
  const auto app = make_app(
      "suggest", "Turns a model and a number of GPUs into a scenario that runs, with the reason for every degree.",
      {{"suggest llama-3-8b --gpus 64", "on H100 nodes, with a batch of about 4 million tokens"},
       {"suggest gpt-7.5b --gpus 64 --cluster selene --global-batch 512", ""},
       {"suggest gpt-7.5b --gpus 64 --write my.json", "the scenario as a file"}});
  app->add_option("MODEL", request.model, "A model of the library, or a file")->required();
  app->add_option("--gpus", request.gpus, "GPUs to use")
      ->required()
      ->type_name("N")
      ->check(number_between(1, 16'777'216));
  app->add_option("--cluster", request.cluster, "A cluster of the library, or a file (eos: H100 nodes)")
      ->type_name("CLUSTER");
  app->add_option("--global-batch", request.global_batch, "Sequences per step (about 4 million tokens)")
      ->type_name("N")
      ->check(number_between(1, 16'777'216));
  add_search_options(*app, request);
  app->add_option("--write", write, "Write the scenario to a file too")->type_name("FILE");
  add_format(*app, format, {"text", "json"});
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  request.written = {{"--output", output}, {"--write", write}};

  if (request.global_batch == 0)
    request.global_batch =
        usual_global_batch(load_model(request.model, default_library(console.executable)), request.gpus);
  const SearchRun run = run_request(request, console);
  if (run.result.ranking.empty()) {
    console.print(search_text(run, {}, 0));
    return does_not_fit;
  }
  const Candidate& best = run.result.ranking.front().candidate;
  const std::string json =
      candidate_scenario(request, run, best, "Suggested: " + run.title + ": " + describe(best), write);
  if (!write.empty()) write_output(console, write, json);
  write_output(console, output, format == "json" ? json : text_of(request, run, console, json));
  return ok;
}

}  // namespace stagecraft::cli
