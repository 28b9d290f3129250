// Runs the scenario's schedule for real, through stagecraft-exec.

#include <fmt/core.h>

#include "command_line.hpp"
#include "executor.hpp"
#include "exit_code.hpp"
#include "schedule/json_text.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

struct Arguments {
  std::string file, format, trace, data, profile, device = "cpu", drill;
  std::vector<std::string> overrides;
  int steps = 3, warmup = 1;
  std::uint64_t seed = 1;
  double learning_rate = 1e-3, weight_decay = 0.1, clip_norm = 0, timeout_s = 60;
  bool in_process = false, pin = false;
};

void add_options(CLI::App& app, Arguments& a) {
  app.add_option("FILE", a.file, "A scenario")->required();
  add_overrides(app, a.overrides);
  app.add_option("--steps", a.steps, "Measured steps (3)")->check(number_between(1, 255));
  app.add_option("--warmup", a.warmup, "Steps before them (1)")->check(number_between(0, 1000000));
  app.add_option("--trace", a.trace,
                 "Write the measured trace: Chrome JSON if it ends in .json, else the native format");
  app.add_option("--data", a.data, "A token file instead of synthetic tokens");
  app.add_option("--profile", a.profile,
                 "Time each kind of operation alone in turn with the steps, and write the calibration here");
  app.add_option("--seed", a.seed, "Of initial weights and synthetic tokens (1)")->check(number_between(0, 0x1p64));
  app.add_option("--learning-rate", a.learning_rate, "Of AdamW (0.001)")->check(number_between(0, 1e6));
  app.add_option("--weight-decay", a.weight_decay, "Of AdamW, for matrices (0.1)")->check(number_between(0, 1e6));
  app.add_option("--clip-norm", a.clip_norm, "Largest gradient norm; 0 does not clip (0)")
      ->check(number_between(0, 1e12));
  app.add_option("--device", a.device, "cpu, cuda or cuda:N (cpu)");
  app.add_flag("--in-process", a.in_process, "Ranks as threads of one process instead of processes");
  app.add_flag("--pin", a.pin, "Pin every rank to a core of its own");
  app.add_option("--timeout", a.timeout_s, "Seconds after which a wait ends the job (60)")
      ->check(number_between(0.1, 86400));
  app.add_option("--drill", a.drill, "A fault on purpose: raise, stall, stop or die, as KIND:RANK:STEP:POSITION");
  add_format(app, a.format, {"text", "json"});
}

std::vector<std::string> words_for(const Arguments& a, const std::string& schedule) {
  std::vector<std::string> words{executor_program(), "run", "--scenario", a.file, "--schedule", schedule};
  for (const std::string& one : a.overrides) words.insert(words.end(), {"--set", one});
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--steps", fmt::format("{}", a.steps));
  add("--warmup", fmt::format("{}", a.warmup));
  add("--seed", fmt::format("{}", a.seed));
  add("--learning-rate", fmt::format("{}", a.learning_rate));
  add("--weight-decay", fmt::format("{}", a.weight_decay));
  add("--clip-norm", fmt::format("{}", a.clip_norm));
  add("--timeout", fmt::format("{}", a.timeout_s));
  add("--device", a.device);
  add("--data", a.data);
  add("--trace", a.trace);
  add("--profile", a.profile);
  add("--drill", a.drill);
  if (a.in_process) words.emplace_back("--in-process");
  if (a.pin) words.emplace_back("--pin");
  if (a.format == "json") words.emplace_back("--json");
  return words;
}

}  // namespace

int run_execute(const Words& words, const Console& console) {
  Arguments arguments;
  const auto app =
      make_app("execute",
               "Runs a scenario's schedule for real (CPU or GPUs), prints losses and times, writes the measured trace.",
               {{"execute scenarios/tiny-gpt-2cores.json", "two ranks as two processes of this machine"},
                {"execute my.json --in-process --trace measured.sgt",
                 "all ranks in one process; compare the trace with a prediction"},
                {"execute my.json --pin --profile here.json --trace measured.sgt",
                 "what is predicted from here.json has met the machine in the minutes of these steps"},
                {"execute my.json --set schedule=zb-h1 --steps 20 --data tokens.u16", ""}});
  add_options(*app, arguments);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  const std::vector<Written> written{{"--trace", arguments.trace}, {"--profile", arguments.profile}};
  keep_apart({arguments.file, arguments.data}, written);
  const Prepared prepared = prepare_schedule(arguments.file, arguments.overrides, console);
  keep_apart(prepared.files, written);
  for (const Finding& note : prepared.notes) console.message("note", to_text(note));
  arguments.overrides = prepared.overrides;
  const TemporaryFile schedule(to_json(prepared.schedule));
  return run_program(words_for(arguments, schedule.path()), console.interrupt);
}

}  // namespace stagecraft::cli
