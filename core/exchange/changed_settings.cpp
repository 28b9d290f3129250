#include "exchange/changed_settings.hpp"

#include <algorithm>

#include "spec/recipe.hpp"
#include "spec/usual_choices.hpp"

namespace stagecraft {
namespace {

struct Changes {
  std::vector<std::string> paths;
  void add(bool changed, const char* path) {
    if (changed) paths.emplace_back(path);
  }
};

// All members are bound, so that a specification with one more does not compile before it is thought of here.

void add_batch(Changes& changes, const BatchSpec& batch) {
  const auto& [global, micro, lengths, ramp_up] = batch;
  changes.add(!lengths.empty(), "batch.lengths");
  changes.add(ramp_up.has_value(), "batch.ramp_up");
}

void add_schedule(Changes& changes, const RunSpec& run) {
  const auto& [name, csv, group_size, memory_limit, waves, run_ahead, flushes] = run.schedule;
  const bool usual = name == "1f1b" || (name == "interleaved-1f1b" && run.parallel.virtual_stages > 1);
  changes.add(!csv.empty() || (!usual && run.parallel.pipeline > 1), "schedule");
  changes.add(group_size.has_value(), "schedule.group_size");
  changes.add(memory_limit.has_value(), "schedule.memory_limit");
  changes.add(waves > 1, "schedule.waves");
  changes.add(run_ahead > 0, "schedule.run_ahead");
  changes.add(flushes > 1, "schedule.flushes");
}

void add_sharding(Changes& changes, const ModelSpec& model, const RunSpec& run) {
  const auto& [group, unit, prefetch, reshard, reduce_each, secondary, int8_gather, int4_reduce, reduce_scatter] =
      run.sharding;
  const ShardingSpec usual;
  changes.add(run.zero_stage > 0 && group > 0, "sharding.group");
  changes.add(run.zero_stage > 1 && unit != usual_shard_unit(model, run.parallel), "sharding.unit");
  changes.add(run.zero_stage == 3 && prefetch != usual.prefetch, "sharding.prefetch");
  changes.add(run.zero_stage == 3 && !reshard, "sharding.reshard_after_forward");
  changes.add(run.zero_stage > 1 && !reduce_each, "sharding.reduce_each_micro_batch");
  changes.add(secondary > 0, "sharding.secondary");
  changes.add(int8_gather, "sharding.int8_gather");
  changes.add(int4_reduce, "sharding.int4_reduce");
  changes.add(run.zero_stage == 1 && !reduce_scatter, "sharding.reduce_scatter");
}

void add_experts(Changes& changes, const ExpertsSpec& experts) {
  const auto& [dispatcher, fp8_dispatch, router_padding, imbalance, seed] = experts;
  changes.add(dispatcher != Dispatcher::all_to_all, "experts.dispatcher");
  changes.add(fp8_dispatch, "experts.fp8_dispatch");
  changes.add(router_padding, "experts.router_padding");
  changes.add(imbalance > 0, "experts.imbalance");
}

void add_offload(Changes& changes, const OffloadSpec& offload) {
  const auto& [optimizer, parameters, activations, activation_blocks, host_adam_s] = offload;
  changes.add(optimizer != Home::gpu, "offload.optimizer");
  changes.add(parameters != Home::gpu, "offload.parameters");
  changes.add(activations != Home::gpu, "offload.activations");
}

void add_overlap(Changes& changes, const RunSpec& run, const GpuSpec& gpu) {
  const auto& [reduce, gather, pipeline, tensor, context, expert, delay, slowdown] = run.overlap;
  const bool one_replica = run.parallel.data * run.parallel.context == 1;
  const bool gathers = run.zero_stage > 0 && !one_replica;
  changes.add(!one_replica && reduce != usually_overlaps_reduce(run.framework, run.parallel),
              "overlap.gradient_reduce");
  changes.add(gathers && gather != usually_overlaps_gather(run.framework, run.parallel, run.zero_stage),
              "overlap.parameter_gather");
  changes.add(!pipeline && run.parallel.pipeline > 1, "overlap.pipeline");
  changes.add(tensor && run.parallel.tensor > 1, "overlap.tensor");
  changes.add(!context && run.parallel.context > 1, "overlap.context");
  changes.add(expert, "overlap.expert");
  changes.add(delay, "overlap.delay_weight_grad");
  changes.add(slowdown != usual_slowdown(run, gpu), "overlap.slowdown");
}

void add_host(Changes& changes, const HostSpec& host) {
  const auto& [attention_waits, pause_s, every, together] = host;
  changes.add(attention_waits, "host.attention_waits");
  changes.add(pause_s > 0, "host.garbage_collection");
}

StateRecipe usual_recipe(RunSpec run) {
  run.recipe.reset();
  return recipe_of(run);
}

}  // namespace

std::vector<std::string> changed_settings(const Scenario& scenario) {
  const RunSpec usual;
  const auto& [parallel, batch, sequence_length, partition, schedule, precision, fp32_gradients, recompute,
               attention_kernel, recompute_scope, recompute_modules, recompute_blocks, recipe, optimizer, framework,
               loss_kernel, zero_stage, sharding, experts, gradient_compression, fp8_scaling, offload,
               expandable_segments, overlap, scatter_gather, fused_kernels, accumulation_fusion, cuda_graphs, host,
               data_loading_s, receive_placement, bucket_bytes, steps, training, left_to_layout] = scenario.run;
  Changes changes;
  changes.add(to_text(parallel.placement) != to_text(PlacementSpec{}), "parallel.placement");
  add_batch(changes, batch);
  add_schedule(changes, scenario.run);
  add_sharding(changes, scenario.model, scenario.run);
  if (scenario.model.moe.experts > 0) add_experts(changes, experts);
  add_offload(changes, offload);
  add_overlap(changes, scenario.run, scenario.cluster.gpu);
  add_host(changes, host);
  changes.add(recipe_of(scenario.run) != usual_recipe(scenario.run), "recipe");
  changes.add(attention_kernel != usual_attention_kernel(scenario.cluster.gpu, precision), "attention_kernel");
  changes.add(optimizer != usual.optimizer, "optimizer");
  changes.add(loss_kernel != usual.loss_kernel, "loss_kernel");
  changes.add(gradient_compression != usual.gradient_compression, "gradient_compression");
  changes.add(fp8_scaling != usual.fp8_scaling && precision == Precision::fp8_mixed, "fp8_scaling");
  changes.add(expandable_segments, "expandable_segments");
  changes.add(!scatter_gather && parallel.pipeline > 1 && parallel.tensor > 1, "scatter_gather");
  changes.add(!fused_kernels, "fused_kernels");
  changes.add(!accumulation_fusion, "gradient_accumulation_fusion");
  changes.add(cuda_graphs, "cuda_graphs");
  changes.add(data_loading_s > 0, "data_loading");
  changes.add(receive_placement != usual.receive_placement && parallel.pipeline > 1, "receive_placement");
  changes.add(bucket_bytes != usual.gradient_bucket_bytes, "gradient_bucket");
  return changes.paths;
}

void leave_unwritten(const Scenario& scenario, std::span<const std::string_view> written,
                     std::vector<std::string>& left_out) {
  for (std::string& path : changed_settings(scenario)) {
    if (std::find(written.begin(), written.end(), path) == written.end()) left_out.push_back(std::move(path));
  }
}

}  // namespace stagecraft
