// Parameters of models that people train, against their own configurations. Each test states its convention.
#include "spec_test.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

ModelSpec shipped(const char* name) {
  return load_model(name, shipped_library());
}

}  // namespace

TEST_CASE("Mixtral 8x7B has 46.7 billion parameters with embeddings, 12.9 of them active") {
  // Attention 2 x 4096^2 + 2 x 4096 x 1024, eight experts of 3 x 4096 x 14336 and their router 8 x 4096, two norms.
  const double block = 41943040.0 + 8 * (3.0 * 4096 * 14336 + 4096) + 2 * 4096;
  const double all = 32 * block + 2.0 * 32000 * 4096 + 4096;
  CHECK(all == 46702792704.0);  // huggingface.co/mistralai/Mixtral-8x7B-v0.1, safetensors metadata
  CHECK(parameters_of(shipped("mixtral-8x7b")) == all);
  CHECK(active_parameters_of(shipped("mixtral-8x7b")) == all - 32 * 6 * 3.0 * 4096 * 14336);
}

TEST_CASE("DeepSeek-V3 has 671 billion parameters with embeddings and without the prediction module, 37 active") {
  // Without the router's bias, which no gradient trains. Attention: queries 7168 x 1536, its norm, 1536 x 128 x 192;
  // latent 7168 x 576, its norm, 512 x 128 x 256; output 128 x 128 x 7168.
  const double attention =
      7168.0 * 1536 + 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 + 512 + 512.0 * 128 * 256 + 128.0 * 128 * 7168;
  const double dense = attention + 2 * 7168 + 3.0 * 7168 * 18432;
  const double experts = attention + 2 * 7168 + 256 * 7168.0 + 257 * 3.0 * 7168 * 2048;
  const double all = 3 * dense + 58 * experts + 2.0 * 129280 * 7168 + 7168;
  CHECK(all == 671026404352.0);
  ModelSpec model = shipped("deepseek-v3");
  // The module: a block with experts, norms of its two inputs and before the head, a projection of 2 h x h.
  CHECK(parameters_of(model) == all + experts + 3 * 7168 + 2 * 7168.0 * 7168);
  model.prediction_modules = 0;
  CHECK(parameters_of(model) == all);
  CHECK(active_parameters_of(model) == all - 58 * 248 * 3.0 * 7168 * 2048);  // 37.6 billion with embeddings
}

TEST_CASE("Qwen3 235B-A22B has 235 billion parameters with embeddings, 22 active") {
  const double attention = 2.0 * 4096 * 64 * 128 + 2.0 * 4096 * 4 * 128 + 2 * 128;  // and norms of heads
  const double block = attention + 2 * 4096 + 128 * (4096 + 3.0 * 4096 * 1536);
  const double all = 94 * block + 2.0 * 151936 * 4096 + 4096;
  CHECK(all == 235093634560.0);  // huggingface.co/Qwen/Qwen3-235B-A22B, safetensors metadata
  CHECK(parameters_of(shipped("qwen3-235b-a22b")) == all);
  CHECK(active_parameters_of(shipped("qwen3-235b-a22b")) == Approx(22e9).epsilon(0.02));
}

TEST_CASE("Qwen3 30B-A3B has 30.5 billion parameters with embeddings") {
  CHECK(parameters_of(shipped("qwen3-30b-a3b")) == 30532122624.0);  // .../Qwen3-30B-A3B, safetensors metadata
}

TEST_CASE("GPT-OSS 120B has 116.8 billion parameters, 5.1 active beside the embeddings") {
  const double attention = 2880.0 * (64 + 2 * 8) * 64 + (64 + 2 * 8) * 64 + 64.0 * 64 * 2880 + 2880;
  const double expert = 3.0 * 2880 * 2880 + 2 * 2880 + 2880;
  const double all = 36 * (attention + 2 * 2880 + 128 * (2880 + expert)) + 2.0 * 201088 * 2880 + 2880;
  const ModelSpec model = shipped("gpt-oss-120b");
  CHECK(parameters_of(model) == all);
  CHECK(all == Approx(116.83e9).epsilon(1e-4));  // arXiv 2508.10925, table 1; sinks and router biases are not counted
  CHECK(active_parameters_of(model) - 201088.0 * 2880 ==
        Approx(5.13e9).epsilon(2e-3));  // the same; without the input's
}

TEST_CASE("Llama 3 405B has 405.9 billion parameters with embeddings") {
  CHECK(parameters_of(shipped("llama-3-405b")) == 405853388800.0);
}

TEST_CASE("Gemma 2 27B has 27.2 billion parameters, its table counted once, with four norms per block") {
  const double block = 4608.0 * 4096 * 2 + 4608.0 * 2048 * 2 + 3.0 * 4608 * 36864 + 4 * 4608;
  const double all = 46 * block + 256000.0 * 4608 + 4608;
  CHECK(all == 27227128320.0);  // huggingface.co/google/gemma-2-27b, safetensors metadata
  CHECK(parameters_of(shipped("gemma-2-27b")) == all);
}

TEST_CASE("T5 11B has 11.3 billion parameters, its table counted once") {
  // 128 heads of 128 on a width of 1024; the encoder's and the decoder's table of relative positions, and two final
  // norms.
  const double attention = 4 * 1024.0 * 16384, mlp = 2 * 1024.0 * 65536;
  const double all = 24 * (attention + mlp + 2 * 1024) + 24 * (2 * attention + mlp + 3 * 1024) + 32128.0 * 1024 +
                     2 * 32 * 128 + 2 * 1024;
  CHECK(all == 11307321344.0);  // transformers, T5ForConditionalGeneration of google-t5/t5-11b
  CHECK(parameters_of(shipped("t5-11b")) == all);
}

TEST_CASE("BERT large has 335 million parameters with its pooler, and the head of masked words beside them") {
  const double block = 12.0 * 1024 * 1024 + 13 * 1024;
  const double table = (30522.0 + 512 + 2) * 1024 + 2 * 1024;
  const double base = table + 24 * block + 1024.0 * 1024 + 1024;
  CHECK(base == 335141888.0);                                   // transformers, BertModel of bert-large-uncased
  const double head = 1024.0 * 1024 + 1024 + 2 * 1024 + 30522;  // transform, its norm, the bias; the table is tied
  CHECK(parameters_of(shipped("bert-large")) == base + head);
}

TEST_CASE("ViT L/16 has 304 million parameters with its head of 1000 classes") {
  const double block = 12.0 * 1024 * 1024 + 13 * 1024;
  const double all = (768.0 + 1) * 1024 + 1024 + 197.0 * 1024 + 24 * block + 2 * 1024 + 1000.0 * 1024 + 1000;
  CHECK(all == 304326632.0);  // torchvision, vit_l_16
  CHECK(parameters_of(shipped("vit-l")) == all);
}

TEST_CASE("a window spares every second block of Gemma 2, and every block where nothing is said") {
  ModelSpec model = shipped("gemma-2-27b");
  CHECK(block_kind(model, 0).windowed);
  CHECK_FALSE(block_kind(model, 1).windowed);
  model.attention.global_every = 0;
  CHECK(block_kind(model, 1).windowed);
}

TEST_CASE("T5's first half sees its own tokens, its second half the encoder's output as well") {
  const ModelSpec model = shipped("t5-11b");
  CHECK(block_kind(model, 23).encoder);
  CHECK_FALSE(block_kind(model, 23).cross);
  CHECK(block_kind(model, 24).cross);
}
