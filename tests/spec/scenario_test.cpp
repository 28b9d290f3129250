#include <algorithm>

#include "spec/precision.hpp"
#include "spec/words.hpp"
#include "spec_test.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

std::string default_of(const Scenario& scenario, const std::string& pointer) {
  for (const ChosenDefault& chosen : scenario.defaults)
    if (chosen.pointer == pointer) return chosen.value;
  return "";
}

}  // namespace

TEST_CASE("a scenario needs a model, a cluster, a split and a batch; everything else is a default that is listed") {
  const Scenario scenario = small();
  CHECK(scenario.name == "run");
  CHECK(scenario.path == "run.json");
  CHECK(scenario.model.blocks == 24);
  CHECK(scenario.cluster.gpu.name == "A100-SXM4-80GB");
  CHECK(scenario.run.batch.global == 8);
  for (const char* pointer : {"/parallel/tensor",
                              "/parallel/pipeline",
                              "/parallel/data",
                              "/parallel/context",
                              "/parallel/virtual_stages",
                              "/parallel/sequence_parallel",
                              "/parallel/partition",
                              "/batch/micro",
                              "/sequence_length",
                              "/schedule",
                              "/precision",
                              "/fp32_gradients",
                              "/recompute",
                              "/attention_kernel",
                              "/fused_kernels",
                              "/zero_stage",
                              "/overlap",
                              "/scatter_gather",
                              "/receive_placement",
                              "/gradient_bucket",
                              "/steps",
                              "/calibration"}) {
    CAPTURE(pointer);
    CHECK_FALSE(default_of(scenario, pointer).empty());
  }
  for (const ChosenDefault& chosen : scenario.defaults) CHECK_FALSE(chosen.reason.empty());
}

TEST_CASE("what the scenario says is no default") {
  const Scenario scenario = small({"precision=fp32", "parallel.data=1", "steps=3"});
  CHECK(default_of(scenario, "/precision").empty());
  CHECK(default_of(scenario, "/parallel/data").empty());
  CHECK(scenario.run.precision == Precision::fp32);
  CHECK(scenario.run.steps == 3);
}

TEST_CASE("what overlaps unless told otherwise is the framework's habit, where there are replicas") {
  const auto overlap = [](std::vector<std::string> more) {
    more.insert(more.end(), {"parallel.data=2", "batch.global=64"});
    return small(more).run.overlap;
  };
  CHECK_FALSE(overlap({}).gradient_reduce);
  CHECK(overlap({"framework=torch_ddp"}).gradient_reduce);
  CHECK_FALSE(overlap({"framework=torch_ddp", "zero_stage=1"}).parameter_gather);
  CHECK(overlap({"framework=fsdp", "zero_stage=3"}).gradient_reduce);
  CHECK(overlap({"framework=fsdp", "zero_stage=3"}).parameter_gather);
  CHECK_FALSE(overlap({"framework=fsdp", "zero_stage=0"}).parameter_gather);
  CHECK_FALSE(overlap({"framework=fsdp", "zero_stage=3", "overlap.parameter_gather=false"}).parameter_gather);
  CHECK(overlap({"framework=fsdp", "zero_stage=3", "overlap.parameter_gather=false"}).gradient_reduce);
  CHECK_FALSE(small({"framework=fsdp", "parallel.data=1"}).run.overlap.gradient_reduce);
}

TEST_CASE("the usual attention kernel is that of the GPU's generation") {
  CHECK(small({R"(cluster={"extends": "selene", "nodes": 1})"}).run.attention_kernel == AttentionKernel::flash_2);
  CHECK(small({R"(cluster={"extends": "eos", "nodes": 1})"}).run.attention_kernel == AttentionKernel::flash_3);
  CHECK(small({R"(cluster={"extends": "hgx-b200", "nodes": 1})"}).run.attention_kernel == AttentionKernel::flash_4);
}

TEST_CASE("every field reaches its struct") {
  const Scenario scenario = parsed(R"({
    "name": "all", "description": "every field", "model": "llama-3-8b", "cluster": {"extends": "eos", "nodes": 4},
    "parallel": {"tensor": 2, "pipeline": 4, "data": 2, "context": 2, "virtual_stages": 2, "sequence_parallel": true,
                 "context_method": "all_gather", "zig_zag": false, "ulysses": 2, "expert": 2, "expert_tensor": 1, "partition": [4, 4, 4, 4, 4, 4, 4, 4]},
    "batch": {"global": 64, "micro": 2, "lengths": [{"length": 512, "share": 1}],
              "ramp_up": {"start": 8, "increment": 4, "samples": 1000}}, "sequence_length": 4096,
    "experts": {"dispatcher": "deduplicated", "fp8_dispatch": true, "router_padding": true, "imbalance": 0.25, "seed": 3},
    "fp8_scaling": "per_block", "gradient_compression": "int8",
    "schedule": {"name": "interleaved-1f1b", "group_size": 4, "memory_limit": 2.5, "waves": 2, "flushes": 2},
    "precision": "fp8_mixed", "fp32_gradients": false, "recompute": "selective", "attention_kernel": "flash_3", "zero_stage": 1,
    "overlap": {"gradient_reduce": true, "parameter_gather": true, "pipeline": false, "tensor": true, "context": false, "expert": true, "delay_weight_grad": true, "slowdown": 0.2},
    "scatter_gather": false, "fused_kernels": false, "gradient_accumulation_fusion": false, "receive_placement": "before_consumer",
    "host": {"garbage_collection": {"pause": "150 ms", "every_steps": 20, "together": true}},
    "sharding": {"group": 0, "unit": "stage", "prefetch": 1, "reshard_after_forward": true, "reduce_scatter": false},
    "gradient_bucket": "80 MB", "steps": 5, "calibration": "h100-ndr+megatron-2024",
    "published": [{"key": "step_time_s", "value": 1.5, "source": "a paper"}],
    "recipe": "mixed_16bit_and_fp32_gradients", "optimizer": "adam_8bit", "framework": "transformer_engine", "loss_kernel": "fused"})");
  const RunSpec& run = scenario.run;
  CHECK(scenario.description == "every field");
  CHECK(scenario.cluster.nodes == 4);
  CHECK(run.parallel.tensor == 2);
  CHECK(run.parallel.pipeline == 4);
  CHECK(run.parallel.data == 2);
  CHECK(run.parallel.context == 2);
  CHECK(run.parallel.virtual_stages == 2);
  CHECK(run.parallel.sequence_parallel);
  CHECK(run.partition.rule == PartitionRule::explicit_list);
  CHECK(run.partition.blocks_per_stage == std::vector<std::int64_t>(8, 4));
  CHECK(run.parallel.context_method == ContextMethod::all_gather);
  CHECK_FALSE(run.parallel.zig_zag);
  CHECK(run.parallel.ulysses == 2);
  CHECK(run.parallel.expert == 2);
  CHECK(run.parallel.expert_tensor == 1);
  CHECK(run.batch.micro == 2);
  REQUIRE(run.batch.lengths.size() == 1);
  CHECK(run.batch.lengths[0].length == 512);
  REQUIRE(run.batch.ramp_up);
  CHECK(run.batch.ramp_up->start == 8);
  CHECK(run.batch.ramp_up->increment == 4);
  CHECK(run.batch.ramp_up->samples == 1000);
  CHECK(run.experts.dispatcher == Dispatcher::deduplicated);
  CHECK(run.experts.fp8_dispatch);
  CHECK(run.experts.router_padding);
  CHECK(run.experts.imbalance == 0.25);
  CHECK(run.experts.seed == 3);
  CHECK(run.fp8_scaling == Fp8Scaling::per_block);
  CHECK(run.gradient_compression == GradientCompression::int8);
  CHECK_FALSE(run.sharding.reduce_scatter);
  CHECK_FALSE(run.host.attention_waits);
  CHECK(run.host.collection_pause_s == 0.15);
  CHECK(run.host.collection_every == 20);
  CHECK(run.host.collects_together);
  CHECK(run.sequence_length == 4096);
  CHECK(run.schedule.name == "interleaved-1f1b");
  CHECK(run.schedule.group_size == 4);
  CHECK(run.schedule.memory_limit == 2.5);
  CHECK(run.schedule.waves == 2);
  CHECK(run.schedule.flushes == 2);
  CHECK(run.precision == Precision::fp8_mixed);
  CHECK_FALSE(run.fp32_gradients);
  CHECK(run.recompute == Recompute::selective);
  CHECK(run.attention_kernel == AttentionKernel::flash_3);
  CHECK(run.zero_stage == 1);
  CHECK(run.overlap.gradient_reduce);
  CHECK(run.overlap.parameter_gather);
  CHECK_FALSE(run.overlap.pipeline);
  CHECK(run.overlap.tensor);
  CHECK_FALSE(run.overlap.context);
  CHECK(run.overlap.expert);
  CHECK(run.overlap.delay_weight_grad);
  CHECK(run.overlap.slowdown == 0.2);
  CHECK_FALSE(run.scatter_gather);
  CHECK_FALSE(run.fused_kernels);
  CHECK_FALSE(run.gradient_accumulation_fusion);
  CHECK(run.receive_placement == ReceivePlacement::before_consumer);
  CHECK(run.gradient_bucket_bytes == 80e6);
  CHECK(run.recipe == StateRecipe::mixed_16bit_and_fp32_gradients);
  CHECK(run.optimizer == Optimizer::adam_8bit);
  CHECK(run.framework == Framework::transformer_engine);
  CHECK(run.loss_kernel == LossKernel::fused);
  CHECK(run.steps == 5);
  CHECK(scenario.calibration == "h100-ndr+megatron-2024");
  REQUIRE(scenario.published.size() == 1);
  CHECK(scenario.published[0].value == 1.5);
  CHECK(scenario.defaults.empty());
}

TEST_CASE("data parallelism left out fills the cluster") {
  const Scenario scenario =
      small({"cluster={\"extends\":\"selene\",\"nodes\":6}", "parallel.tensor=8", "parallel.pipeline=2"});
  CHECK(scenario.run.parallel.data == 3);                      // 48 GPUs / (8 x 2)
  CHECK(small({"parallel.tensor=8"}).run.parallel.data == 1);  // one GPU: the plan refuses it
}

TEST_CASE("defaults follow the hardware and the split") {
  CHECK(small({"cluster=dgx-1-v100"}).run.precision == Precision::fp16_mixed);
  CHECK(small({"cluster=dgx-1-v100"}).run.attention_kernel == AttentionKernel::fused_softmax);
  CHECK(small({"cluster=host-2core"}).run.precision == Precision::fp32);
  CHECK(small({"cluster=host-2core"}).run.attention_kernel == AttentionKernel::unfused);
  CHECK(small({"cluster=hgx-b200"}).run.attention_kernel == AttentionKernel::flash_4);
  CHECK(small().run.precision == Precision::bf16_mixed);
  CHECK(small().run.schedule.name == "1f1b");
  CHECK(small({"parallel.virtual_stages=2"}).run.schedule.name == "interleaved-1f1b");
  CHECK(small().calibration == "a100-hdr");
}

TEST_CASE("the option --set changes a field, a short form and a whole object") {
  CHECK(small({"batch.global=16"}).run.batch.global == 16);
  CHECK(small({"/batch/global=16"}).run.batch.global == 16);
  CHECK(small({"cluster=selene", "cluster.nodes=4"}).cluster.nodes == 4);
  CHECK(small({"model.blocks=12"}).model.blocks == 12);
  CHECK(small({"model.attention.heads=12", "model.attention.kv_heads=12"}).model.attention.heads == 12);
  CHECK(small({"cluster.gpu.memory=40 GiB", "cluster.gpu.memory_usable=39 GiB"}).cluster.gpu.memory.value ==
        40.0 * 1073741824.0);
  CHECK(small({"cluster.gpu=H100-SXM5-80GB"}).cluster.gpu.architecture == "hopper");
  CHECK(small({"schedule.name=zb-h1"}).run.schedule.name == "zb-h1");
  CHECK(small({"schedule=gpipe", "schedule.waves=2"}).run.schedule.name == "gpipe");
  CHECK(small({"batch.global=16", "batch.global=32"}).run.batch.global == 32);
}

TEST_CASE("a model may be written out in the scenario") {
  const Scenario scenario = small({R"(model={"name":"mlp","plain_layers":[{"name":"linear",
      "forward_flops_per_sample":"2 MFLOP","parameters":1000000,"output_per_sample":"4 kB",
      "activations_per_sample":"8 kB"}]})"});
  REQUIRE(scenario.model.plain_layers.size() == 1);
  CHECK(scenario.model.plain_layers[0].forward_flops_per_sample.value == 2e6);
  CHECK(scenario.model.plain_layers[0].parameters == 1e6);
  CHECK(scenario.run.sequence_length == 1);
}

TEST_CASE("defaults of a model written out are listed under its place") {
  const Scenario scenario = small({R"(model={"name":"m","hidden":64,"blocks":2,"vocabulary":100,"sequence_length":32,
      "attention":{"heads":4},"mlp":{"ffn_hidden":256,"gated":true}})"});
  CHECK(default_of(scenario, "/model/attention/kv_heads") == "4");
  CHECK(default_of(scenario, "/model/attention/head_dim") == "16");
  CHECK(default_of(scenario, "/model/mlp/activation") == "silu");
  CHECK(scenario.model.attention.head_dim == 16);
}

TEST_CASE("a scenario of the tree loads from its file") {
  const Scenario scenario = load_scenario(source_file("scenarios/gpt-145b-selene.json"), {}, shipped_library());
  CHECK(scenario.name == "gpt-145b-selene");
  CHECK(scenario.run.parallel.tensor * scenario.run.parallel.pipeline * scenario.run.parallel.data == 1536);
  CHECK(scenario.cluster.nodes * gpus_per_node(scenario.cluster.node) == 1536);
  REQUIRE(scenario.published.size() == 2);
  CHECK(scenario.published[0].value == 148);
  CHECK(scenario.published[0].flop_convention == "megatron-sc21");
  CHECK(scenario.defaults.empty());
}

TEST_CASE("names of the library are listed sorted, and found whatever the order of its directories") {
  const std::vector<std::string> models = model_names(shipped_library());
  CHECK(std::is_sorted(models.begin(), models.end()));
  for (const char* name : {"gpt-1.7b", "gpt-3.6b", "gpt-7.5b", "gpt-18.4b", "gpt-39.1b", "gpt-76.1b", "gpt-145b",
                           "gpt-310b", "gpt-530b", "gpt-1008b", "gpt3-175b", "llama-2-7b", "llama-2-13b", "llama-2-70b",
                           "llama-3-8b", "llama-3-70b", "llama-3-405b"}) {
    CAPTURE(name);
    CHECK(std::binary_search(models.begin(), models.end(), name));
  }
  const std::vector<std::string> clusters = cluster_names(shipped_library());
  CHECK(std::is_sorted(clusters.begin(), clusters.end()));
  for (const char* name : {"box-1gpu", "box-4x4090", "dgx-1-v100", "eos", "host-2core", "selene"}) {
    CAPTURE(name);
    CHECK(std::binary_search(clusters.begin(), clusters.end(), name));
  }
  Library reversed = shipped_library();
  std::reverse(reversed.directories.begin(), reversed.directories.end());
  CHECK(model_names(reversed) == models);
  CHECK(model_names({}).empty());
}

TEST_CASE("the library beside the source tree is found without an installation") {
  const Library library = default_library("/nowhere/bin/stagecraft");
  CHECK_NOTHROW(load_model("gpt-1.7b", library));
  CHECK_NOTHROW(load_cluster("selene", library));
}

TEST_CASE("a precision stands for the same number formats everywhere") {
  for (const auto& [precision, name] : precision_words) {
    CAPTURE(name);
    const std::string gpu = precision == Precision::fp8_mixed ? "H100-SXM5-80GB" : "A100-SXM4-80GB";
    const auto run = [&](const std::vector<std::string>& more) {
      std::vector<std::string> overrides{"cluster.gpu=" + gpu, "precision=" + std::string(name)};
      overrides.insert(overrides.end(), more.begin(), more.end());
      return small(overrides).run;
    };
    CHECK(run({}).fp32_gradients == usually_fp32_gradients(precision));
    CHECK(gradient_dtype(run({"fp32_gradients=true"})) == Dtype::fp32);
    CHECK(gradient_dtype(run({"fp32_gradients=false"})) == number_formats(precision).activation);
  }
  CHECK(gradient_dtype(small({"precision=fp16_mixed"}).run) == Dtype::fp16);
  CHECK(gradient_dtype(small({"precision=bf16_mixed"}).run) == Dtype::fp32);
}

TEST_CASE("a scenario tells which files it was read from") {
  const Scenario scenario = small();
  REQUIRE(scenario.files.size() == 3);  // the text itself lies in no file
  CHECK(contains(scenario.files[0], "models/gpt-1.7b.json"));
  CHECK(contains(scenario.files[1], "clusters/box-1gpu.json"));
  CHECK(contains(scenario.files[2], "gpus/A100-SXM4-80GB.json"));
  const std::string path = source_file("scenarios/gpt-145b-selene.json");
  CHECK(load_scenario(path, {}, shipped_library()).files.front() == path);
}

TEST_CASE("what a scenario extends cannot be set on the command line") {
  const InputProblem problem = refused([] { small({"extends=gpt-145b-selene.json"}); });
  CHECK(problem.pointer == "/extends");
  CHECK(contains(problem.got, "too late"));
  CHECK(small({"model.extends=gpt-3.6b"}).model.name == "gpt-3.6b");
}
