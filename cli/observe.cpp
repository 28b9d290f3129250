#include <fmt/format.h>

#include "base/file_io.hpp"
#include "command_line.hpp"
#include "exchange/training_log.hpp"
#include "exit_code.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

/// A log of nothing but memory has no intervals, and none are left out.
void refuse_long_warm_up(std::size_t warm_up, std::size_t intervals) {
  if (intervals == 0 || warm_up < intervals) return;
  throw UsageError(fmt::format("--warm-up {} leaves none of the log's {} interval{}; nearest: --warm-up {}", warm_up,
                               intervals, intervals == 1 ? "" : "s", intervals - 1));
}

}  // namespace

int run_observe(const Words& words, const Console& console) {
  std::string file, output, id = "observed", base;
  std::size_t warm_up = 2;
  const auto app = make_app("observe", "Reads a training log and writes a measurement record.",
                            {{"observe train.log -o run.json", "step time, tokens/s and memory of the run"},
                             {"observe train.log --record shape.json -o run.json", "with the model and layout it ran"},
                             {"validate run.json", "hold the prediction against it"}});
  app->add_option("FILE", file, "Log of Megatron-LM, DeepSpeed or torchtitan")->required();
  app->add_option("--id", id, "Name of the record");
  app->add_option("--record", base, "JSON object whose fields the record keeps: model, parallel, batch, gpu, gpus");
  app->add_option("--warm-up", warm_up, "Logged intervals at the start that do not count")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1000000}));
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  keep_apart(base.empty() ? std::vector<std::string>{file} : std::vector<std::string>{file, base},
             {{"--output", output}});
  const Observed observed = observe_log(read_file(file), file);
  refuse_long_warm_up(warm_up, interval_count(observed));
  write_output(console, output, record_of(observed, id, warm_up, base.empty() ? "" : read_file(base)));
  return ok;
}

}  // namespace stagecraft::cli
