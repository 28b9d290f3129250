#include <fmt/format.h>

#include <algorithm>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "command_line.hpp"
#include "exchange/exchange.hpp"
#include "exit_code.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

/// What is written can be read. Lines and columns of the scenario are none of the configuration's.
void check_readable(const std::string& scenario, const std::string& file, const Library& library) {
  try {
    parse_scenario(scenario, file, {}, library);
  } catch (const InputError& error) {
    std::vector<InputProblem> problems = error.problems();
    for (InputProblem& problem : problems) {
      if (problem.file != file) continue;
      problem.file = fmt::format("{}, as a scenario", file);
      problem.line = problem.column = 0;
    }
    throw InputError(std::move(problems));
  }
}

}  // namespace

int run_import(const Words& words, const Console& console) {
  std::string file, form, output;
  ImportRequest request;
  const auto app = make_app("import", "Reads the configuration of another framework and writes a scenario.",
                            {{"import config.json --gpus 64 -o mine.json", "a model of Hugging Face"},
                             {"import train.sh --from megatron --cluster selene", "a Megatron-LM command line"},
                             {"import ds_config.json --gpus 32 --model llama-3-8b", "DeepSpeed"}});
  app->add_option("FILE", file, "The configuration")->required();
  app->add_option("--from", form, "huggingface, megatron, deepspeed or torchtitan; found out if left out");
  app->add_option("--cluster", request.cluster, "Cluster of the library whose nodes it runs on");
  app->add_option("--gpus", request.gpus, "GPUs of the run, where the configuration does not say")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 24));
  app->add_option("--model", request.model, "Model of the library, where the configuration names none");
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  keep_apart({file}, {{"--output", output}});

  const Library library = default_library(console.executable);
  request.gpus_per_node = gpus_per_node(load_cluster(request.cluster, library).node);
  const std::string text = read_file(file, std::size_t{1} << 20);
  if (form.empty()) form = guess_form(text, file);
  const auto forms = import_forms();
  const auto found = std::find_if(forms.begin(), forms.end(), [&](const Form& one) { return form == one.name; });
  if (found == forms.end()) {
    std::vector<std::string> names;
    for (const Form& one : forms) names.emplace_back(one.name);
    throw UsageError(
        form.empty() ? fmt::format("import: what {} is cannot be told; say --from {}", file, fmt::join(names, " | "))
                     : fmt::format("import: --from {}; known are {}", form, fmt::join(names, ", ")));
  }
  const Imported imported = found->import(text, file, request);
  check_readable(imported.scenario, file, library);
  write_output(console, output, imported.scenario);
  for (const std::string& line : imported.assumed) console.message("assumed", line);
  for (const std::string& line : imported.unmapped) console.message("not mapped", line);
  return ok;
}

}  // namespace stagecraft::cli
