// What goes to another framework comes back from it, or is said to be left out.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "exchange/exchange.hpp"
#include "foreign_samples.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

TEST_CASE("a scenario exported to Megatron-LM comes back the same") {
  const Scenario first = read(import_megatron(megatron, "train.sh", {}));
  const Exported exported = export_megatron(first);
  CHECK(exported.left_out.empty());
  const Imported again = import_megatron(exported.text, "exported", {});
  CHECK(again.unmapped.empty());
  const Scenario second = read(again);
  CHECK(export_megatron(second).text == exported.text);
  CHECK(parameters_of(second.model) == parameters_of(first.model));
  CHECK(second.run.parallel.virtual_stages == 2);
}

TEST_CASE("every kind of positions comes back from Megatron-LM, but YaRN, which is said to be left out") {
  Scenario scenario = read(import_megatron(megatron, "train.sh", {}));
  for (const Positions positions : {Positions::none, Positions::learned, Positions::rotary, Positions::relative}) {
    scenario.model.positions = positions;
    scenario.model.attention.relative_buckets = positions == Positions::relative ? 64 : 0;
    const Exported exported = export_megatron(scenario);
    CHECK(exported.left_out.empty());
    const ModelSpec again = read(import_megatron(exported.text, "exported", {})).model;
    CHECK(again.positions == positions);
    CHECK(again.attention.relative_buckets == scenario.model.attention.relative_buckets);
  }
  scenario.model.positions = Positions::yarn;
  scenario.model.attention.relative_buckets = 0;
  CHECK(export_megatron(scenario).left_out == std::vector<std::string>{"model.positions"});
}

TEST_CASE("the order of ranks and CUDA graphs come back from Megatron-LM; another order is said to be left out") {
  Scenario first = read(import_megatron(megatron, "train.sh", {}));
  first.run.cuda_graphs = true;
  first.run.parallel.placement.order = *parse_order("tensor-context-pipeline-data");
  const Exported exported = export_megatron(first);
  CHECK(exported.left_out.empty());
  const Scenario second = read(import_megatron(exported.text, "exported", {}));
  CHECK(second.run.cuda_graphs);
  CHECK(to_text(second.run.parallel.placement) == "tensor-context-pipeline-data");
  first.run.parallel.placement.order = *parse_order("pipeline-tensor-context-data");
  CHECK(export_megatron(first).left_out == std::vector<std::string>{"parallel.placement"});
  first.run.host.collection_pause_s = 0.1;
  first.run.host.collection_every = 50;
  first.run.host.collects_together = true;
  CHECK(export_megatron(first).text.find("--manual-gc-interval 50") != std::string::npos);
}

TEST_CASE("modules of selective recompute come back from Megatron-LM, an unknown one is refused") {
  Scenario first = read(import_megatron(megatron, "train.sh", {}));
  first.run.recompute_modules = {.core_attention = true, .norms = true, .mlp = true, .latent_up_projection = true};
  const Exported exported = export_megatron(first);
  CHECK(exported.text.find("--recompute-modules core_attn layernorm mlp mla_up_proj") != std::string::npos);
  CHECK(exported.left_out.empty());
  const RecomputeModules modules = read(import_megatron(exported.text, "again.sh", {})).run.recompute_modules;
  CHECK(modules.core_attention);
  CHECK(modules.norms);
  CHECK(modules.mlp);
  CHECK(modules.latent_up_projection);
  CHECK_FALSE(modules.activation);
  first.run.recompute_modules.activation = true;  // Megatron-LM has it between the products of experts only
  CHECK(export_megatron(first).left_out == std::vector<std::string>{"recompute_modules: activation"});
  CHECK_THROWS_WITH(import_megatron(std::string(megatron) + " --recompute-modules core_atn", "x.sh", {}),
                    Catch::Contains("mla_up_proj"));
}

TEST_CASE("offloaded activations come back from Megatron-LM, which moves them without a pipeline only") {
  Scenario first = read(import_megatron(megatron, "train.sh", {}));
  first.run.offload.activations = Home::host;
  CHECK(export_megatron(first).left_out == std::vector<std::string>{"offload.activations"});
  first.run.parallel.pipeline = first.run.parallel.virtual_stages = 1;
  first.run.schedule.name = "1f1b";
  first.run.offload.activation_blocks = 20;
  const Exported exported = export_megatron(first);
  CHECK(exported.left_out.empty());
  const OffloadSpec offload = read(import_megatron(exported.text, "again.sh", {})).run.offload;
  CHECK(offload.activations == Home::host);
  CHECK(offload.activation_blocks == 20);
}

TEST_CASE("what Megatron-LM has a word for comes back from it, and nothing else goes missing without a word") {
  Scenario scenario = read(import_huggingface(deepseek, "config.json", {}));
  scenario.run.parallel.data = 64;
  scenario.run.batch.global = 64;
  RunSpec& run = scenario.run;
  const auto again = [&] { return read(import_megatron(export_megatron(scenario).text, "exported", {})).run; };
  const auto left = [&](const std::string& what) {
    const std::vector<std::string> lines = export_megatron(scenario).left_out;
    return std::count_if(lines.begin(), lines.end(), [&](const auto& line) { return line.find(what) == 0; }) == 1;
  };
  run.optimizer = Optimizer::sgd;
  run.framework = Framework::transformer_engine;
  run.attention_kernel = AttentionKernel::unfused;
  run.loss_kernel = LossKernel::fused;
  run.overlap.gradient_reduce = true;
  run.gradient_bucket_bytes = 80e6;
  run.recipe = StateRecipe::mixed_16bit_and_fp32_gradients;
  const RunSpec same = again();
  CHECK(same.optimizer == run.optimizer);
  CHECK(same.framework == run.framework);
  CHECK(same.attention_kernel == run.attention_kernel);
  CHECK(same.loss_kernel == run.loss_kernel);
  CHECK(same.gradient_bucket_bytes == 80e6);
  CHECK_FALSE(same.fp32_gradients);
  run.zero_stage = 3;
  CHECK(again().zero_stage == 3);
  run.zero_stage = 2;
  CHECK(again().zero_stage == 2);
  run.experts.imbalance = 0.5;
  run.experts.fp8_dispatch = true;
  run.fused_kernels = false;
  run.gradient_compression = GradientCompression::fp32;
  run.data_loading_s = 1;
  run.overlap.slowdown = 0.2;
  run.optimizer = Optimizer::adafactor;
  for (const char* what : {"experts.imbalance", "experts.fp8_dispatch", "fused_kernels", "gradient_compression",
                           "data_loading", "overlap.slowdown", "optimizer"}) {
    CAPTURE(what);
    CHECK(left(what));
  }
  run.parallel.pipeline = 4;
  run.overlap.pipeline = false;
  CHECK_FALSE(again().overlap.pipeline);
  CHECK(left("zero_stage"));
  run.partition = {PartitionRule::explicit_list, {16, 16, 15, 15}, {}};
  CHECK_THAT(export_megatron(scenario).text, Catch::Contains("\"Et*16|t*16|t*15|t*14mL\""));
}

TEST_CASE("every setting of a run is either in what an exporter writes or among what it leaves out") {
  Scenario first = read(import_huggingface(deepseek, "config.json", {}));
  first.run.parallel.tensor = 2;
  first.run.parallel.data = 64;
  first.run.parallel.context = 2;
  first.run.batch.global = 1024;
  first.run.parallel.expert = 8;
  const auto check = [&](const char* what, const std::function<void(RunSpec&)>& change) {
    CAPTURE(what);
    Scenario other = first;
    change(other.run);
    const auto compare = [&](const Exported& before, const Exported& after) {
      CHECK((before.text != after.text || before.left_out != after.left_out));
    };
    compare(export_megatron(first), export_megatron(other));
    compare(export_deepspeed(first), export_deepspeed(other));
    compare(export_torchtitan(first), export_torchtitan(other));
  };
  const auto piped = [](RunSpec& run) { run.parallel.pipeline = 2, run.parallel.data = 32; };
  check("batch.ramp_up", [](RunSpec& run) { run.batch.ramp_up = RampUpSpec{16, 16, 1000}; });
  check("batch.lengths", [](RunSpec& run) { run.batch.lengths = {{512, 1}}; });
  check("schedule.group_size", [](RunSpec& run) { run.schedule.group_size = 4; });
  check("schedule.waves", [](RunSpec& run) { run.schedule.waves = 2; });
  check("attention_kernel", [](RunSpec& run) { run.attention_kernel = AttentionKernel::flash_1; });
  check("optimizer", [](RunSpec& run) { run.optimizer = Optimizer::adafactor; });
  check("loss_kernel", [](RunSpec& run) { run.loss_kernel = LossKernel::chunked; });
  check("recipe", [](RunSpec& run) { run.recipe = StateRecipe::pure_bf16; });
  check("precision", [](RunSpec& run) { run.precision = Precision::tf32; });
  check("gradient_compression", [](RunSpec& run) { run.gradient_compression = GradientCompression::int8; });
  check("expandable_segments", [](RunSpec& run) { run.expandable_segments = true; });
  check("overlap.context", [](RunSpec& run) { run.overlap.context = false; });
  check("overlap.tensor", [](RunSpec& run) { run.overlap.tensor = true; });
  check("overlap.expert", [](RunSpec& run) { run.overlap.expert = true; });
  check("overlap.slowdown", [](RunSpec& run) { run.overlap.slowdown = 0.3; });
  check("overlap.gradient_reduce", [](RunSpec& run) { run.overlap.gradient_reduce = !run.overlap.gradient_reduce; });
  check("fused_kernels", [](RunSpec& run) { run.fused_kernels = false; });
  check("cuda_graphs", [](RunSpec& run) { run.cuda_graphs = true; });
  check("host", [](RunSpec& run) { run.host.collection_pause_s = 1; });
  check("data_loading", [](RunSpec& run) { run.data_loading_s = 1; });
  check("offload.optimizer", [](RunSpec& run) { run.offload.optimizer = Home::host; });
  check("offload.activations", [](RunSpec& run) { run.offload.activations = Home::host; });
  first.run.zero_stage = 3;
  check("sharding.group", [](RunSpec& run) { run.sharding.group = 8; });
  check("sharding.reshard_after_forward", [](RunSpec& run) { run.sharding.reshard_after_forward = false; });
  check("sharding.prefetch", [](RunSpec& run) { run.sharding.prefetch = 2; });
  piped(first.run);
  check("schedule", [](RunSpec& run) { run.schedule.name = "zb-h1"; });
  check("schedule.flushes", [](RunSpec& run) { run.schedule.flushes = 2; });
  check("parallel.partition", [](RunSpec& run) { run.partition = {PartitionRule::explicit_list, {32, 30}, {}}; });
  check("scatter_gather", [](RunSpec& run) { run.scatter_gather = false; });
  check("receive_placement", [](RunSpec& run) { run.receive_placement = ReceivePlacement::before_consumer; });
  check("overlap.pipeline", [](RunSpec& run) { run.overlap.pipeline = false; });
}

TEST_CASE("a model that kept its name but not its shape has no flavor in torchtitan") {
  Scenario scenario = read(import_huggingface(deepseek, "config.json", {}));
  scenario.model.name = "deepseek-v3";
  CHECK_THAT(export_torchtitan(scenario).text, Catch::Contains("671B"));
  scenario.model.blocks = 8;
  CHECK_THAT(export_torchtitan(scenario).text, !Catch::Contains("671B"));
}

TEST_CASE("torchtitan is told of fp8 without a flavor, too, and of stages that it does not shard as such") {
  Scenario scenario = read(import_megatron(megatron, "train.sh", {}));
  scenario.model.name = "mine";
  scenario.model.blocks = 28;
  scenario.run.precision = Precision::fp8_mixed;
  scenario.run.zero_stage = 3;
  scenario.run.sharding.unit = ShardUnit::stage;
  const Exported exported = export_torchtitan(scenario);
  CHECK(exported.text.find("[model]\nconverters = [\"float8\"]") != std::string::npos);
  CHECK(std::count(exported.left_out.begin(), exported.left_out.end(), "sharding.unit") == 1);
  scenario.run.sharding.unit = ShardUnit::block;
  const Exported blocks = export_torchtitan(scenario);
  CHECK(std::count(blocks.left_out.begin(), blocks.left_out.end(), "sharding.unit") == 0);
}

TEST_CASE("a ramp of the batch goes to Megatron-LM and comes back") {
  const std::string text =
      "--num-layers 8 --hidden-size 1024 --num-attention-heads 16 --bf16 --world-size 8 --global-batch-size 64";
  const Scenario scenario = read(import_megatron(text + " --rampup-batch-size 16 16 3000", "x", {}));
  REQUIRE(scenario.run.batch.ramp_up);
  CHECK(scenario.run.batch.ramp_up->start == 16);
  CHECK(scenario.run.batch.ramp_up->samples == 3000);
  CHECK_THAT(export_megatron(scenario).text, Catch::Contains("--rampup-batch-size 16 16 3000"));
  CHECK_THROWS_WITH(import_megatron(text + " --rampup-batch-size 16", "x", {}), Catch::Contains("rampup_batch_size"));
}
