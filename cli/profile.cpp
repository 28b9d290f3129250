// Measures this machine for a scenario, through stagecraft-exec.

#include <fmt/core.h>

#include "command_line.hpp"
#include "executor.hpp"
#include "exit_code.hpp"
#include "schedule/json_text.hpp"
#include "verb.hpp"

namespace stagecraft::cli {

int run_profile(const Words& words, const Console& console) {
  std::string file, output, device = "cpu";
  std::vector<std::string> overrides;
  int repetitions = 15;
  bool pin = false, in_process = false;
  const auto app = make_app(
      "profile", "Times each kind of operation of a scenario alone on this machine and writes a calibration.",
      {{"profile scenarios/tiny-gpt-2cores.json --output here.json", ""},
       {"simulate scenarios/tiny-gpt-2cores.json --set calibration=here.json", "predict with what was measured"}});
  app->add_option("FILE", file, "A scenario")->required();
  add_overrides(*app, overrides);
  app->add_option("--output", output, "The calibration to write")->required();
  app->add_option("--repetitions", repetitions, "Of each measurement (15)")->check(number_between(1, 1000));
  app->add_option("--device", device, "cpu, cuda or cuda:N (cpu)");
  app->add_flag("--in-process", in_process, "Ranks as threads of one process instead of processes");
  app->add_flag("--pin", pin, "Pin every rank to a core of its own");
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  keep_apart({file}, {{"--output", output}});
  const Prepared prepared = prepare_schedule(file, overrides, console);
  keep_apart(prepared.files, {{"--output", output}});
  const TemporaryFile schedule(to_json(prepared.schedule));
  std::vector<std::string> command{executor_program(), "profile",
                                   "--scenario",       file,
                                   "--schedule",       schedule.path(),
                                   "--output",         output,
                                   "--repetitions",    fmt::format("{}", repetitions),
                                   "--device",         device};
  for (const std::string& one : prepared.overrides) command.insert(command.end(), {"--set", one});
  if (in_process) command.emplace_back("--in-process");
  if (pin) command.emplace_back("--pin");
  return run_program(command, console.interrupt);
}

}  // namespace stagecraft::cli
