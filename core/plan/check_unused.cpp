// Settings that change nothing in this run. Each is worth a word, since whoever wrote it expects an effect.
#include <fmt/format.h>

#include "plan/feasibility_checks.hpp"
#include "plan/padded_rows.hpp"
#include "spec/recipe.hpp"

namespace stagecraft {
namespace {

struct Unused {
  bool applies;         // the setting differs from its default, and nothing asks for it
  const char* pointer;  // of the setting
  const char* why;
  const char* nearest;  // what would be the same
};

void report(const Unused& unused, Findings& findings) {
  if (!unused.applies) return;
  findings.push_back({Severity::note, "no-effect", unused.pointer,
                      fmt::format("this setting changes nothing here: {}", unused.why), unused.nearest});
}

/// Whether the scenario says it, rather than a default. `pointer` lies in the object "" of the scenario.
bool is_written(const Scenario& scenario, const char* pointer) {
  if (scenario.defaults.empty()) return false;  // built by a program: nobody knows
  for (const ChosenDefault& chosen : scenario.defaults) {
    if (chosen.pointer == pointer) return false;
  }
  return true;
}

/// A bidirectional schedule holds every stage twice, and both copies are reduced; a table may be one.
bool may_hold_copies(const ScheduleSpec& schedule) {
  return schedule.name == "chimera" || schedule.name == "dualpipe" || !schedule.csv.empty();
}

}  // namespace

void check_unused(const Scenario& scenario, Findings& findings) {
  const RunSpec& run = scenario.run;
  const RunSpec usual;
  const ParallelSpec& parallel = run.parallel;
  const bool plain = !scenario.model.plain_layers.empty();
  const bool alone = parallel.data * parallel.context == 1 && !may_hold_copies(run.schedule);
  const bool one_rank = parallel.pipeline == 1;
  const bool no_buckets = run.gradient_bucket_bytes != usual.gradient_bucket_bytes;
  const bool whole_sends = one_rank || parallel.tensor == 1 || parallel.sequence_parallel;
  const bool has_options = run.schedule.group_size || run.schedule.memory_limit || run.schedule.waves != 1 ||
                           run.schedule.run_ahead != 0 || run.schedule.flushes != 1;
  const bool full_precision = run.precision == Precision::fp32 || run.precision == Precision::tf32;
  constexpr const char* without_replicas = "there is one replica, so no gradients are reduced";
  const OverlapSpec& overlap = run.overlap;
  const bool overlaps = overlap.gradient_reduce || overlap.parameter_gather || overlap.tensor || overlap.expert ||
                        (overlap.context && parallel.context > 1);
  const bool own_order = to_text(parallel.placement) != to_text(PlacementSpec{});
  const bool one_pass = run.batch.global <= run.batch.micro * parallel.data * drains_of(run);
  const bool deduplicates = run.experts.dispatcher == Dispatcher::deduplicated;
  constexpr const char* of_blocks = "plain layers are given by their cost alone";
  for (const Unused& unused : {
           Unused{overlap.slowdown > 0 && !overlaps, "/overlap/slowdown", "no collective runs beside kernels", "0"},
           Unused{own_order && parallel.tensor * parallel.context * parallel.data * parallel.pipeline == 1,
                  "/parallel/placement", "there is one rank", "tensor-context-data-pipeline"},
           Unused{run.overlap.gradient_reduce && alone, "/overlap/gradient_reduce", without_replicas, "false"},
           Unused{no_buckets && alone, "/gradient_bucket", without_replicas, "160 MB"},
           Unused{no_buckets && !alone && !run.overlap.gradient_reduce, "/gradient_bucket",
                  "gradients are cut into buckets only where their reduction overlaps (overlap.gradient_reduce)",
                  "160 MB"},
           Unused{run.overlap.parameter_gather && run.zero_stage == 0, "/overlap/parameter_gather",
                  "parameters are gathered only under ZeRO (zero_stage)", "false"},
           Unused{run.overlap.parameter_gather && run.zero_stage > 0 && alone, "/overlap/parameter_gather",
                  "there is one replica, so no parameters are gathered", "false"},
           Unused{run.offload.activation_blocks != 0 && run.offload.activations == Home::gpu,
                  "/offload/activation_blocks", "activations stay on the GPU (offload.activations)", "0"},
           Unused{run.schedule.run_ahead != 0 && one_rank, "/schedule/run_ahead",
                  "there is one pipeline rank, which has nobody to run ahead of", "0"},
           Unused{run.schedule.flushes != 1 && one_rank && run.schedule.csv.empty(), "/schedule/flushes",
                  "there is one pipeline rank, and nothing drains", "1"},
           Unused{!run.overlap.pipeline && one_rank, "/overlap/pipeline",
                  "there is one pipeline rank, so nothing is sent", "true"},
           Unused{run.overlap.tensor && parallel.tensor == 1, "/overlap/tensor", "the tensor group has one rank",
                  "false"},
           Unused{!run.scatter_gather && !plain && whole_sends, "/scatter_gather",
                  one_rank ? "there is one pipeline rank, so nothing is sent"
                  : parallel.tensor == 1
                      ? "the tensor group has one rank, so a send is never split"
                      : "sequence parallelism keeps one slice per tensor rank, which is all that is sent",
                  "true"},
           Unused{!run.scatter_gather && plain, "/scatter_gather", of_blocks, "true"},
           Unused{run.receive_placement != usual.receive_placement && one_rank, "/receive_placement",
                  "there is one pipeline rank, so nothing is received", "at_sender"},
           Unused{parallel.virtual_stages > 1 && one_rank, "/parallel/virtual_stages",
                  "one pipeline rank has no bubble to make smaller", "1"},
           Unused{parallel.context == 1 && parallel.context_method != usual.parallel.context_method,
                  "/parallel/context_method", "there is one context rank", "ring"},
           Unused{parallel.ulysses != 1 && parallel.context_method != ContextMethod::combined, "/parallel/ulysses",
                  "only the combined method takes a part of the context group for the heads", "1"},
           Unused{!run.overlap.context && parallel.context == 1, "/overlap/context", "there is one context rank",
                  "true"},
           Unused{run.overlap.expert && parallel.expert == 1, "/overlap/expert",
                  "the experts are not spread, so nothing is dispatched", "false"},
           Unused{run.overlap.expert && parallel.expert > 1 && one_pass, "/overlap/expert",
                  "between two drains there is one micro-batch, and its passes have none of another one beside them",
                  "false"},
           Unused{run.overlap.delay_weight_grad && (!run.overlap.expert || parallel.expert == 1),
                  "/overlap/delay_weight_grad",
                  "weight gradients wait only for exchanges of experts that overlap (overlap.expert)", "false"},
           Unused{run.experts.router_padding && !asks_for_padded_rows(scenario.model.moe, run),
                  "/experts/router_padding",
                  "rows are padded only for fp8 products of TransformerEngine's experts, without a capacity, where the "
                  "dispatcher does not pad them",
                  "false"},
           Unused{deduplicates && parallel.expert == 1, "/experts/dispatcher",
                  "the experts are not spread, so nothing is dispatched", "all_to_all"},
           Unused{run.experts.seed != 0 && run.experts.imbalance == 0, "/experts/seed",
                  "every expert has its even share", "0"},
           Unused{run.experts.imbalance > 0 && parallel.expert == 1, "/experts/imbalance",
                  "the experts are not spread: one rank works on all of them", "0"},
           Unused{run.experts.fp8_dispatch && parallel.expert == 1, "/experts/fp8_dispatch",
                  "the experts are not spread, so nothing is dispatched", "false"},
           Unused{run.gradient_compression != GradientCompression::none && alone, "/gradient_compression",
                  without_replicas, "none"},
           Unused{run.fp8_scaling != Fp8Scaling::per_tensor && run.precision != Precision::fp8_mixed, "/fp8_scaling",
                  "no product runs in fp8", "per_tensor"},
           Unused{(run.sharding.secondary > 0 || run.sharding.int8_gather) && run.zero_stage < 3, "/sharding",
                  "parameters are gathered in every pass only under ZeRO 3", ""},
           Unused{
               !run.sharding.reduce_each_micro_batch && (run.zero_stage < 2 || run.sharding.unit != ShardUnit::block),
               "/sharding/reduce_each_micro_batch", "gradients are reduced once per step anyway", "true"},
           Unused{run.sharding.int4_reduce && (run.zero_stage < 2 || run.sharding.unit != ShardUnit::block),
                  "/sharding/int4_reduce", "gradients are reduced block by block only under ZeRO 2 and 3", "false"},
           Unused{!alone && run.gradient_compression != GradientCompression::none &&
                      gradient_wire_bytes(run) == bytes_of(recipe_of(run)).gradient,
                  "/gradient_compression", "gradients are kept in a format of that size", "none"},
           Unused{run.host.attention_waits && plain, "/host/attention_waits", of_blocks, "false"},
           Unused{!run.sharding.reduce_scatter && run.zero_stage != 1, "/sharding/reduce_scatter",
                  "gradients are all-reduced without ZeRO and sharded as they are reduced under ZeRO 2 and 3", "true"},
           Unused{!run.fp32_gradients && full_precision, "/fp32_gradients", "this precision has no other gradients",
                  "true"},
           Unused{!run.schedule.csv.empty() && has_options, "/schedule", "a schedule from a file takes no options",
                  "the key \"csv\" alone"},
           Unused{plain && parallel.sequence_parallel, "/parallel/sequence_parallel", of_blocks, "false"},
           Unused{plain && run.recompute == Recompute::selective, "/recompute",
                  "plain layers have no attention to compute again", "none"},
           Unused{plain && is_written(scenario, "/attention_kernel"), "/attention_kernel", of_blocks, ""},
           Unused{plain && !run.fused_kernels, "/fused_kernels", of_blocks, "true"},
           Unused{plain && !run.gradient_accumulation_fusion, "/gradient_accumulation_fusion", of_blocks, "true"},
       }) {
    report(unused, findings);
  }
}

}  // namespace stagecraft
