// Pictures of the graphical program without its window, through stagecraft-gui.

#include <fmt/core.h>

#include "command_line.hpp"
#include "executor.hpp"
#include "find_program.hpp"
#include "verb.hpp"

namespace stagecraft::cli {

int run_render(const Words& words, const Console& console) {
  std::string view, file, output, against, size, theme = "light";
  double scale = 1;
  bool simulate = false;
  std::vector<std::string> overrides;
  const auto app = make_app(
      "render",
      "Draws a view of a scenario or a trace as PNG or SVG: no display is needed, the bytes are the same every time.",
      {{"render timeline scenarios/gpt-145b-selene.json --output step.png", "closed form; --simulate for contention"},
       {"render timeline step.sgt --output step.svg --size 2400x1200", "a trace of simulate or execute"},
       {"render compare predicted.sgt --against measured.sgt --output both.png", ""},
       {"render why my.json --output why.png --theme dark --scale 2", ""},
       {"render sweep out.json --output points.png", "what sweep or search wrote with --format json"}});
  app->add_option("VIEW", view,
                  "timeline, why, topology, compare, schedule, table, sweep, form, headline, window or start")
      ->required();
  app->add_option("FILE", file, "A scenario, a trace, a schedule as CSV, or of sweep its journal or JSON")->required();
  add_overrides(*app, overrides);
  app->add_option("--output", output, "The picture; its ending chooses: .png or .svg")->required();
  app->add_option("--against", against, "A second trace, for compare");
  app->add_option("--size", size, "WIDTHxHEIGHT in pixels (1600x900; a timeline is as high as its rows)");
  app->add_option("--scale", scale, "Device pixels per pixel, of PNG (1)")->check(CLI::Range(0.5, 8.0));
  app->add_option("--theme", theme, "light or dark (light)")->check(CLI::IsMember({"light", "dark"}));
  app->add_flag("--simulate", simulate, "Simulate a scenario before it is drawn");
  if (const auto help = parse(*app, words)) return console.print(*help), 0;

  const std::string program = find_program("stagecraft-gui");
  if (program.empty()) {
    throw UsageError(
        "stagecraft-gui is neither beside stagecraft nor on the PATH: it is built where Qt 6 is found (on Debian: apt "
        "install qt6-base-dev qt6-svg-dev). `stagecraft simulate FILE --trace step.svg` draws a timeline without it");
  }
  std::vector<std::string> command{
      program, "--render", view, file, "--output", output, "--scale", fmt::format("{}", scale), "--theme", theme};
  if (!size.empty()) command.insert(command.end(), {"--size", size});
  for (const std::string& one : overrides) command.insert(command.end(), {"--set", one});
  if (!against.empty()) command.insert(command.end(), {"--against", against});
  if (simulate) command.emplace_back("--simulate");
  return run_program(command, console.interrupt);
}

}  // namespace stagecraft::cli
