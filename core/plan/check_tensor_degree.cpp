// What tensor parallelism cuts must come out whole on every tensor rank.
#include <fmt/format.h>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {
namespace {

bool tensor_degree_works(const ModelSpec& model, std::int64_t tensor) {
  return model.attention.heads % tensor == 0 && model.attention.kv_heads % tensor == 0 &&
         model.mlp.ffn_hidden % tensor == 0;
}

}  // namespace

void check_tensor_degree(const Scenario& scenario, Findings& findings) {
  const ModelSpec& model = scenario.model;
  const ParallelSpec& parallel = scenario.run.parallel;
  const std::int64_t tensor = parallel.tensor;
  if (!model.plain_layers.empty()) {
    const auto refuse_sharing = [&](const char* pointer, const char* what, std::int64_t ranks) {
      if (ranks == 1) return;
      findings.push_back({Severity::error, "plain-layers-not-sliced", pointer,
                          fmt::format("plain layers are given by their cost alone, so nothing says how {} {} ranks "
                                      "would share one",
                                      ranks, what),
                          "1"});
    };
    refuse_sharing("/parallel/tensor", "tensor", tensor);
    refuse_sharing("/parallel/context", "context", parallel.context);
    return;
  }

  const AttentionSpec& attention = model.attention;
  if (attention.heads % attention.kv_heads != 0) {
    findings.push_back(
        {Severity::error, "kv-heads-not-shared-evenly", "/model/attention/kv_heads",
         fmt::format("{} attention heads cannot share {} key-value heads evenly", attention.heads, attention.kv_heads),
         nearest_values(attention.kv_heads, attention.heads,
                        [&](std::int64_t value) { return attention.heads % value == 0; })});
  }

  const std::string nearest =
      nearest_values(tensor, attention.kv_heads, [&](std::int64_t value) { return tensor_degree_works(model, value); });
  const auto refuse = [&](const char* code, const std::string& message) {
    findings.push_back({Severity::error, code, "/parallel/tensor", message, nearest});
  };
  if (attention.heads % tensor != 0) {
    refuse("heads-not-divisible",
           fmt::format("{} attention heads cannot be split over {} tensor ranks", attention.heads, tensor));
  }
  if (attention.kv_heads % tensor != 0) {
    refuse("kv-heads-not-divisible",
           fmt::format("{} key-value heads cannot be split over {} tensor ranks, and are not replicated",
                       attention.kv_heads, tensor));
  }
  if (model.mlp.ffn_hidden % tensor != 0) {
    refuse("ffn-not-divisible",
           fmt::format("the MLP's inner width {} cannot be split over {} tensor ranks", model.mlp.ffn_hidden, tensor));
  }

  const std::int64_t padded = padded_vocabulary(model.vocabulary, tensor);
  if (padded != model.vocabulary) {
    findings.push_back({Severity::note, "vocabulary-padded", "/model/vocabulary",
                        fmt::format("{} words are padded to {}, a multiple of 128 x {} tensor ranks", model.vocabulary,
                                    padded, tensor),
                        fmt::format("{}", padded)});
  }
  if (scenario.run.parallel.sequence_parallel && tensor == 1) {
    findings.push_back({Severity::warning, "sequence-parallel-without-tensor", "/parallel/sequence_parallel",
                        "sequence parallelism spreads over the tensor group, which has one rank: it changes nothing",
                        "false"});
  }
}

}  // namespace stagecraft
