#include <fmt/core.h>

#include "command_line.hpp"
#include "exit_code.hpp"
#include "report/number_text.hpp"
#include "spec/scenario.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

std::string list(const Library& library) {
  std::string out = fmt::format("{:<24}{:>12}{:>8}{:>8}{:>7}{:>12}{:>9}\n", "name", "parameters", "blocks", "hidden",
                                "heads", "vocabulary", "tokens");
  for (const std::string& name : model_names(library)) {
    const ModelSpec model = load_model(name, library);
    out += fmt::format("{:<24}{:>12}{:>8}{:>8}{:>7}{:>12}{:>9}\n", name, count_of_parameters(parameters_of(model)),
                       model.blocks, model.hidden, model.attention.heads, model.vocabulary, model.sequence_length);
  }
  return out;
}

std::string show(const std::string& name, const Library& library) {
  const ModelSpec model = load_model(name, library);
  std::string out = fmt::format("{}: {} parameters\n", model.name, count_of_parameters(parameters_of(model)));
  if (!model.source.empty()) out += fmt::format("  source      {}\n", model.source);
  if (!model.plain_layers.empty()) {
    for (const PlainLayerSpec& layer : model.plain_layers) {
      out += fmt::format("  {:<24} {:>10} parameters, {} forward, {} out per sample\n", layer.name,
                         count_of_parameters(layer.parameters), to_text(layer.forward_flops_per_sample),
                         to_text(layer.output_per_sample));
    }
    return out;
  }
  out += fmt::format("  blocks      {} of hidden size {}, {} and {} positions\n", model.blocks, model.hidden,
                     to_text(model.norm), to_text(model.positions));
  out += fmt::format("  attention   {} heads of {}, {} key-value heads, {}\n", model.attention.heads,
                     model.attention.head_dim, model.attention.kv_heads, model.attention.causal ? "causal" : "full");
  out += fmt::format("  MLP         {}{} of {}\n", model.mlp.gated ? "gated " : "", to_text(model.mlp.activation),
                     model.mlp.ffn_hidden);
  out += fmt::format("  vocabulary  {}, embeddings {}\n", model.vocabulary, model.tied_embeddings ? "tied" : "untied");
  out += fmt::format("  tokens      {} in a sequence\n", model.sequence_length);
  return out;
}

}  // namespace

int run_models(const Words& words, const Console& console) {
  std::string action = "list", name;
  const auto app = make_app("models", "Lists the known models, or shows one.",
                            {{"models", "all of them"}, {"models show gpt3-175b", "one, with its source"}});
  app->add_option("ACTION", action, "list or show");
  app->add_option("NAME", name, "A name of the list, or a model file");
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  check_list_or_show("models", action, name);
  const Library library = default_library(console.executable);
  return console.print(action == "list" ? list(library) : show(name, library)), ok;
}

}  // namespace stagecraft::cli
