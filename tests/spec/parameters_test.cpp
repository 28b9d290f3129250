#include "spec_test.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

struct Published {
  const char* model;
  double parameters;
  double within;  // relative
};

ModelSpec tiny_gpt() {
  ModelSpec model;
  model.hidden = 4;
  model.blocks = 2;
  model.vocabulary = 10;
  model.sequence_length = 3;
  model.attention = {2, 2, 2, true, true};
  model.mlp = {16, false, Activation::gelu, true};
  return model;
}

}  // namespace

TEST_CASE("parameters of the Llama models are exactly those of their checkpoints") {
  const auto row = GENERATE(values<Published>({
      {"llama-2-7b", 6738415616.0, 0},     // huggingface.co/meta-llama/Llama-2-7b-hf, safetensors metadata
      {"llama-2-13b", 13015864320.0, 0},   // .../Llama-2-13b-hf
      {"llama-2-70b", 68976648192.0, 0},   // .../Llama-2-70b-hf
      {"llama-3-8b", 8030261248.0, 0},     // .../Meta-Llama-3-8B
      {"llama-3-70b", 70553706496.0, 0},   // .../Meta-Llama-3-70B
      {"llama-3-405b", 405853388800.0, 0}  // .../Llama-3.1-405B
  }));
  CAPTURE(row.model);
  CHECK(parameters_of(load_model(row.model, shipped_library())) == row.parameters);
}

TEST_CASE("parameters of the GPT models agree with the printed digits") {
  // arXiv 2104.04473, Table 1; arXiv 2005.14165, Table 2.1.
  const auto row = GENERATE(values<Published>({{"gpt-1.7b", 1.7e9, 0.03},
                                               {"gpt-3.6b", 3.6e9, 0.015},
                                               {"gpt-7.5b", 7.5e9, 0.007},
                                               {"gpt-18.4b", 18.4e9, 0.003},
                                               {"gpt-39.1b", 39.1e9, 0.0013},
                                               {"gpt-76.1b", 76.1e9, 0.0007},
                                               {"gpt-145b", 145.6e9, 0.0004},
                                               {"gpt-310b", 310.1e9, 0.0002},
                                               {"gpt-530b", 529.6e9, 0.0001},
                                               {"gpt-1008b", 1008e9, 0.0005},
                                               {"gpt3-175b", 175e9, 0.003}}));
  CAPTURE(row.model);
  CHECK(parameters_of(load_model(row.model, shipped_library())) == Approx(row.parameters).epsilon(row.within));
}

TEST_CASE(
    "a GPT has 12 l h^2 (1 + 13 / 12h) + (V + s) h parameters and a final norm") {  // arXiv 2104.04473, equation 2
  const auto name = GENERATE("gpt-1.7b", "gpt-145b", "gpt-1008b", "gpt3-175b");
  const ModelSpec model = load_model(name, shipped_library());
  const auto l = static_cast<double>(model.blocks);
  const auto h = static_cast<double>(model.hidden);
  const auto embedded = static_cast<double>(model.vocabulary + model.sequence_length);
  CHECK(parameters_of(model) == 12 * l * h * h + 13 * l * h + embedded * h + 2 * h);
}

TEST_CASE("the parameters of a small GPT can be counted by hand") {
  const ModelSpec model = tiny_gpt();
  // Per block: attention 4 (4 x 4) + 4 x 4 biases = 80; MLP 4 x 16 + 16 + 16 x 4 + 4 = 148; two norms 16.
  CHECK(parameters_of(model, {LayerKind::block, 0}) == 80 + 148 + 16);
  CHECK(parameters_of(model, {LayerKind::embedding, 0}) == 10 * 4 + 3 * 4);
  CHECK(parameters_of(model, {LayerKind::head, 0}) == 8);
  CHECK(parameters_of(model, {LayerKind::loss, 0}) == 0);
  CHECK(parameters_of(model) == 52 + 2 * 244 + 8);
}

TEST_CASE("untied embeddings, gates, grouped queries and missing biases change the count as they should") {
  ModelSpec model = tiny_gpt();
  model.tied_embeddings = false;
  CHECK(parameters_of(model, {LayerKind::head, 0}) == 8 + 40);
  model.norm = Norm::rms_norm;
  CHECK(parameters_of(model, {LayerKind::head, 0}) == 4 + 40);
  model.positions = Positions::rotary;
  CHECK(parameters_of(model, {LayerKind::embedding, 0}) == 40);
  model.attention = {2, 1, 2, true, false};  // query 4 x 4, key and value 4 x 2 each, output 4 x 4
  model.mlp = {16, true, Activation::silu, false};
  CHECK(parameters_of(model, {LayerKind::block, 0}) == 16 + 16 + 16 + 3 * 64 + 2 * 4);
}

TEST_CASE("a transformer is embedding, blocks, head and loss") {
  const std::vector<Layer> layers = layers_of(tiny_gpt());
  REQUIRE(layers.size() == 5);
  CHECK(layers[0].kind == LayerKind::embedding);
  CHECK(layers[1].kind == LayerKind::block);
  CHECK(layers[2].index == 1);
  CHECK(layers[3].kind == LayerKind::head);
  CHECK(layers[4].kind == LayerKind::loss);
}

TEST_CASE("plain layers are the whole model") {
  ModelSpec model = tiny_gpt();
  model.plain_layers = {{"one", {1e9}, 100, {1}, {2}}, {"two", {2e9}, 200, {1}, {2}}};
  const std::vector<Layer> layers = layers_of(model);
  REQUIRE(layers.size() == 2);
  CHECK(layers[1].kind == LayerKind::plain);
  CHECK(layers[1].index == 1);
  CHECK(parameters_of(model) == 300);
}

TEST_CASE("every number format has a size and a word") {
  CHECK(size_of(Dtype::fp32).value == 4);
  CHECK(size_of(Dtype::tf32).value == 4);
  CHECK(size_of(Dtype::bf16).value == 2);
  CHECK(size_of(Dtype::fp16).value == 2);
  CHECK(size_of(Dtype::fp8).value == 1);
  CHECK(size_of(Dtype::int64).value == 8);
  CHECK(to_text(Dtype::bf16) == "bf16");
  CHECK(to_text(Precision::bf16_mixed) == "bf16_mixed");
  CHECK(to_text(AttentionKernel::flash_2) == "flash_2");
}

TEST_CASE("what every tensor rank holds whole are projections down to latents, and routers") {
  const ModelSpec model = load_model("deepseek-v3", shipped_library());
  // Queries 1536, keys and values 512 and 64 of positions; 256 experts behind three dense blocks.
  CHECK(whole_parameters_of(model, {LayerKind::block, 0}) == 7168.0 * (1536 + 512 + 64));
  CHECK(whole_parameters_of(model, {LayerKind::block, 3}) == 7168.0 * (1536 + 512 + 64 + 256));
  CHECK(whole_parameters_of(model, {LayerKind::head, 0}) == 0);
  CHECK(whole_parameters_of(load_model("gpt-1.7b", shipped_library()), {LayerKind::block, 0}) == 0);
}
