// Slices of the sequence, and what a pipeline message is cut into.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plan/feasibility_checks.hpp"
#include "plan/plan.hpp"

namespace stagecraft {
namespace {

/// Ulysses deals heads out over its ranks; key and value heads are copied where there are fewer.
void check_heads_exchange(const Scenario& scenario, Findings& findings) {
  const ParallelSpec& parallel = scenario.run.parallel;
  const AttentionSpec& attention = scenario.model.attention;
  const bool combined = parallel.context_method == ContextMethod::combined;
  if (combined && parallel.context % parallel.ulysses != 0) {
    findings.push_back(
        {Severity::error, "ulysses-degree", "/parallel/ulysses",
         fmt::format("{} context ranks do not divide into groups of {}", parallel.context, parallel.ulysses),
         nearest_values(parallel.ulysses, parallel.context,
                        [&](std::int64_t degree) { return parallel.context % degree == 0; })});
    return;
  }
  const std::int64_t ranks = ulysses_degree(parallel);
  const std::int64_t heads = attention.heads / parallel.tensor;
  const std::int64_t kv_heads = attention.latent.kv_rank > 0 ? heads : attention.kv_heads / parallel.tensor;
  const auto works = [&](std::int64_t degree) {
    return heads % degree == 0 && (kv_heads % degree == 0 || degree % kv_heads == 0);
  };
  if (ranks == 1 || kv_heads < 1 || works(ranks)) return;
  const char* pointer = combined ? "/parallel/ulysses" : "/parallel/context";
  findings.push_back({Severity::error, "ulysses-heads", pointer,
                      fmt::format("{} query and {} key-value heads per tensor rank cannot be dealt out to {} ranks "
                                  "that exchange heads",
                                  heads, kv_heads, ranks),
                      nearest_values(ranks, heads, works)});
}

/// Whether every rank of a ring has two slices, from both ends of the sequence.
bool zig_zags(const Scenario& scenario) {
  const ParallelSpec& parallel = scenario.run.parallel;
  const std::int64_t ring = parallel.context / std::max<std::int64_t>(1, ulysses_degree(parallel));
  return parallel.zig_zag && ring > 1 && scenario.model.attention.causal;
}

void note_imbalance(const Scenario& scenario, Findings& findings) {
  const ParallelSpec& parallel = scenario.run.parallel;
  const std::int64_t ring = parallel.context / std::max<std::int64_t>(1, ulysses_degree(parallel));
  if (ring < 2 || !scenario.model.attention.causal || parallel.zig_zag) return;
  findings.push_back({Severity::note, "context-imbalance", "/parallel/zig_zag",
                      fmt::format("the last of {} context ranks attends to {:.3g} times the average of keys, and the "
                                  "others wait for it",
                                  ring, 2 - 1 / static_cast<double>(ring)),
                      "true"});
}

/// One check for all who cut the sequence, so that the nearest length suits them all.
void check_slices(const Scenario& scenario, Findings& findings) {
  const RunSpec& run = scenario.run;
  const std::int64_t of_tensor = run.parallel.sequence_parallel ? run.parallel.tensor : 1;
  const std::int64_t of_ring = zig_zags(scenario) ? 2 : 1;
  const std::int64_t slices = run.parallel.context * std::lcm(of_ring, of_tensor);
  if (run.sequence_length % slices == 0) return;
  const std::int64_t below = run.sequence_length / slices * slices;
  findings.push_back({Severity::error, "sequence-not-divisible", "/sequence_length",
                      fmt::format("{} tokens cannot be split into {} slices: context parallelism takes {}{}, sequence "
                                  "parallelism over the tensor group {} of each context rank",
                                  run.sequence_length, slices, run.parallel.context * of_ring,
                                  of_ring > 1 ? " (zig-zag: two for each rank)" : "", of_tensor),
                      below == 0 ? fmt::format("{}", slices) : fmt::format("{} or {}", below, below + slices)});
}

void check_encoder(const Scenario& scenario, Findings& findings) {
  const ModelSpec& model = scenario.model;
  if (model.encoder_blocks == 0) return;
  if (scenario.run.parallel.context > 1) {
    findings.push_back({Severity::error, "context-of-encoder-decoder", "/parallel/context",
                        "the sequences of an encoder and a decoder are not split over context ranks", "1"});
  }
  if (model.moe.experts > 0 || model.attention.latent.kv_rank > 0) {
    findings.push_back({Severity::error, "encoder-decoder-kind", "/model/encoder_blocks",
                        "an encoder-decoder has dense MLPs and grouped or multi-head attention", "0"});
  }
}

}  // namespace

void check_sequence(const Scenario& scenario, Findings& findings) {
  const ModelSpec& model = scenario.model;
  const RunSpec& run = scenario.run;
  const ParallelSpec& parallel = run.parallel;
  if (!model.plain_layers.empty()) return;

  check_slices(scenario, findings);
  check_heads_exchange(scenario, findings);
  note_imbalance(scenario, findings);
  check_encoder(scenario, findings);
  if (model.positions == Positions::learned && run.sequence_length > model.sequence_length) {
    findings.push_back(
        {Severity::error, "sequence-beyond-positions", "/sequence_length",
         fmt::format("{} tokens, but the model has {} learned positions", run.sequence_length, model.sequence_length),
         fmt::format("{}", model.sequence_length)});
  }
  const bool cuts_messages = run.scatter_gather && !parallel.sequence_parallel && parallel.pipeline > 1;
  const auto message_divides = [&](std::int64_t tensor) {
    // Remainders first: the product of the three sizes may exceed 64 bits.
    return run.sequence_length / parallel.context % tensor * (model.hidden % tensor) % tensor *
               (run.batch.micro % tensor) % tensor ==
           0;
  };
  if (cuts_messages && !message_divides(parallel.tensor)) {
    findings.push_back(
        {Severity::error, "message-not-divisible", "/scatter_gather",
         fmt::format("an activation of {} x {} x {} elements cannot be cut into {} equal parts for the tensor ranks",
                     run.sequence_length / parallel.context, run.batch.micro, model.hidden, parallel.tensor),
         "false"});
  }
}

}  // namespace stagecraft
