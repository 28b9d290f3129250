// stagecraft: a table of verbs, and the one place where errors become messages and exit codes.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>

#include "base/allocator.hpp"
#include "base/input_error.hpp"
#include "base/refusal.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "search_verbs.hpp"

namespace stagecraft::cli {
namespace {

constexpr std::array verbs = {
    Verb{"simulate", "rehearse one training step of a scenario and report where the time and memory go", run_simulate},
    Verb{"check", "say whether a scenario can run: layout, schedule, memory", run_check},
    Verb{"memory", "show what fills each GPU, whether it fits, and the changes that make it fit", run_memory},
    Verb{"explain", "the formula and the inputs behind a number of the report", run_explain},
    Verb{"execute", "run the schedule for real on CPU or GPUs and measure it", run_execute},
    Verb{"profile", "measure this machine for a scenario and write a calibration", run_profile},
    Verb{"bundle", "one folder to carry to a cluster: frozen schedule, scenario, launch scripts", run_bundle},
    Verb{"compare", "lay a measured trace over a predicted one", run_compare},
    Verb{"import", "read the configuration of Hugging Face, Megatron-LM, DeepSpeed or torchtitan", run_import},
    Verb{"export", "write the flags or the file that run a scenario in a framework", run_export},
    Verb{"observe", "read a training log and write a measurement record", run_observe},
    Verb{"validate", "hold predictions against published measurements, per source", run_validate},
    Verb{"search", "find the best layout for a model on a cluster, and say why not the others", run_search},
    Verb{"suggest", "a scenario that runs, from a model and a number of GPUs", run_suggest},
    Verb{"solve", "what explains a measured step time", run_solve},
    Verb{"sweep", "rehearse a scenario at every combination of some of its values, on all processors", run_sweep},
    Verb{"merge", "join the shards of a sweep", run_merge},
    Verb{"calibrate", "fit constants of a calibration to measured runs", run_calibrate},
    Verb{"schedule", "print a pipeline schedule as a timeline, CSV, JSON or SVG; compare the whole family",
         run_schedule},
    Verb{"render", "draw a timeline or another view as PNG or SVG, without a display", run_render},
    Verb{"topology", "list the known clusters, show one", run_topology},
    Verb{"nccl-tests", "what nccl-tests would print on a cluster, in its columns", run_nccl_tests},
    Verb{"models", "list the known models, show one", run_models},
    Verb{"schema", "print a JSON Schema, for editors and for checking", run_schema},
};

std::string help() {
  std::string out =
      "stagecraft rehearses the training of a large model on a GPU cluster before anyone pays for the cluster.\n\n"
      "Examples:\n"
      "  stagecraft simulate scenarios/gpt-145b-selene.json\n"
      "  stagecraft simulate scenarios/gpt-145b-selene.json --set parallel.pipeline=16 --estimate\n"
      "  stagecraft simulate scenarios/gpt-145b-selene.json --trace step.json      # open in ui.perfetto.dev\n"
      "  stagecraft schedule zb-h1 --stages 4 --micro-batches 8\n"
      "  stagecraft explain mfu scenarios/gpt-145b-selene.json\n\n"
      "Verbs:\n";
  for (const Verb& verb : verbs) out += fmt::format("  {:<10} {}\n", verb.name, verb.summary);
  out +=
      "\n`stagecraft VERB --help` tells more. `--version` prints the version.\n"
      "Exit codes: 0 ok, 1 internal, 2 usage, 3 invalid input, 4 does not fit in memory, 5 outside tolerance,\n"
      "6 a rank failed, 7 timed out, 130 interrupted.\n";
  return out;
}

int run(const Words& words, const Console& console) {
  if (words.empty()) throw UsageError("no verb; see: stagecraft --help");
  const std::string& name = words.front();
  if (name == "--help" || name == "-h" || name == "help") return console.print(help()), ok;
  if (name == "--version") return console.print("stagecraft " STAGECRAFT_VERSION "\n"), ok;
  const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& known) { return name == known.name; });
  if (verb != verbs.end()) return verb->run(Words(words.begin() + 1, words.end()), console);
  std::vector<std::string> names;
  for (const Verb& known : verbs) names.emplace_back(known.name);
  const std::string nearest = nearest_word(name, names);
  throw UsageError(fmt::format("unknown verb \"{}\"{}; see: stagecraft --help", name,
                               nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

int run_and_report(const Words& words, const Console& console) {
  try {
    return run(words, console);
  } catch (const UsageError& error) {
    console.message("usage", error.what());
    return usage_error;
  } catch (const InputError& error) {
    console.message("invalid input", error.what());
    return invalid_input;
  } catch (const Refusal& error) {
    console.message("cannot run", error.what());
    return invalid_input;
  } catch (const OutputError& error) {
    console.message("error", error.what());
  } catch (const std::bad_alloc&) {
    console.message("error", "out of memory");
  } catch (const std::exception& error) {
    console.message("internal error", error.what());
  }
  return internal_error;
}

}  // namespace
}  // namespace stagecraft::cli

int main(int argc, char** argv) {
  using namespace stagecraft::cli;
  occupy_closed_streams();
  stagecraft::keep_freed_memory();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is found at the write
  Interrupt interrupt;
  const Console console = make_console(interrupt, argc > 0 ? argv[0] : nullptr);
  return run_and_report(Words(argv + std::min(argc, 1), argv + argc), console);
}
