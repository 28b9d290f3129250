#include <array>

#include "exchange/exchange.hpp"

namespace stagecraft {
namespace {

constexpr std::array<Form, 4> forms{{
    {"huggingface", "config.json of a Hugging Face model", import_huggingface},
    {"megatron", "a Megatron-LM command line, or a YAML with the same names", import_megatron},
    {"deepspeed", "DeepSpeed's ds_config.json", import_deepspeed},
    {"torchtitan", "torchtitan's JSON dump of its configuration, or TOML", import_torchtitan},
}};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::span<const Form> import_forms() {
  return forms;
}

std::string guess_form(std::string_view text, const std::string&) {
  if (has(text, "\"model_type\"")) return "huggingface";
  if (has(text, "--num-layers") || has(text, "--num_layers") || has(text, "num_layers:")) return "megatron";
  if (has(text, "train_micro_batch_size_per_gpu") || has(text, "zero_optimization") || has(text, "train_batch_size")) {
    return "deepspeed";
  }
  if (has(text, "parallelism") || has(text, "[training]") || has(text, "[job]")) return "torchtitan";
  return "";
}

}  // namespace stagecraft
