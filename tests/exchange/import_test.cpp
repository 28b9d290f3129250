#include <catch2/catch.hpp>
#include <functional>

#include "exchange/exchange.hpp"
#include "exchange/foreign_config.hpp"
#include "exchange/megatron_layout.hpp"
#include "spec/scenario.hpp"

using namespace stagecraft;

namespace {

Library shipped() {
  return {{STAGECRAFT_SOURCE_DIR "/scenarios", STAGECRAFT_SOURCE_DIR "/topologies"}};
}

Scenario read(const Imported& imported) {
  return parse_scenario(imported.scenario, "imported", {}, shipped());
}

// The key that a refusal names, and where.
std::string refused_key(const std::string& form, const std::string& text, ImportRequest request = {}) {
  for (const Form& one : import_forms()) {
    if (form != one.name) continue;
    try {
      one.import(text, "theirs", request);
    } catch (const InputError& error) {
      return error.problems().front().file + ":" + error.problems().front().pointer;
    }
  }
  return "not refused";
}

// huggingface.co/mistralai/Mixtral-8x7B-v0.1, config.json, as it is.
const char* const mixtral = R"({
  "architectures": ["MixtralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2,
  "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 14336,
  "max_position_embeddings": 32768, "model_type": "mixtral", "num_attention_heads": 32, "num_experts_per_tok": 2,
  "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8, "output_router_logits": false,
  "rms_norm_eps": 1e-05, "rope_theta": 1000000.0, "router_aux_loss_coef": 0.02, "sliding_window": null,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.36.0.dev0", "use_cache": true,
  "vocab_size": 32000, "colour_of_the_router": "blue"
})";

const char* const deepseek = R"({
  "model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
  "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256,
  "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "n_group": 8, "topk_group": 4,
  "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "num_nextn_predict_layers": 1, "vocab_size": 129280, "max_position_embeddings": 163840, "hidden_act": "silu",
  "tie_word_embeddings": false, "attention_bias": false, "ep_size": 1, "moe_layer_freq": 1
})";

const char* const gpt_oss = R"({
  "model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64,
  "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 128,
  "num_experts_per_tok": 4, "experts_per_token": 4, "sliding_window": 128, "swiglu_limit": 7.0, "attention_bias": true,
  "layer_types": ["sliding_attention", "full_attention"], "initial_context_length": 4096, "vocab_size": 201088,
  "max_position_embeddings": 131072, "hidden_act": "silu", "tie_word_embeddings": false
})";

const char* const megatron = R"(#!/bin/bash
torchrun --nproc-per-node 8 --nnodes 2 pretrain_gpt.py \
  --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --group-query-attention --num-query-groups 8 \
  --ffn-hidden-size 14336 --seq-length 8192 --max-position-embeddings 8192 --vocab-size 128256 --swiglu \
  --normalization RMSNorm --position-embedding-type rope --disable-bias-linear --hidden-dropout 0 \
  --attention-dropout 0 --untie-embeddings-and-output-weights \
  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --context-parallel-size 2 \
  --num-layers-per-virtual-pipeline-stage 8 --sequence-parallel --cp-comm-type p2p \
  --micro-batch-size 1 --global-batch-size 64 --bf16 --use-distributed-optimizer --overlap-grad-reduce \
  --recompute-granularity selective --lr 3e-4 --magic-number 7
)";

}  // namespace

TEST_CASE("a Hugging Face configuration gives the very model of the library") {
  const ModelSpec model = read(import_huggingface(mixtral, "mixtral/config.json", {})).model;
  CHECK(parameters_of(model) == 46702792704.0);
  CHECK(model.moe.top_k == 2);
  CHECK(parameters_of(read(import_huggingface(deepseek, "config.json", {})).model) ==
        parameters_of(load_model("deepseek-v3", shipped())));
}

TEST_CASE("GPT-OSS comes with biases, windows and a clamp, and goes to Megatron-LM and back with its clamp") {
  const Imported imported = import_huggingface(gpt_oss, "config.json", {});
  CHECK(imported.unmapped.empty());
  const ModelSpec model = read(imported).model;
  CHECK(parameters_of(model) == parameters_of(load_model("gpt-oss-120b", shipped())));
  CHECK(model.attention.window == 128);
  CHECK(model.attention.global_every == 2);
  CHECK(model.mlp.clamp == 7);
  Scenario scenario = read(import_megatron(megatron, "train.sh", {}));
  scenario.model.mlp.clamp = 7;
  const std::string text = export_megatron(scenario).text;
  CHECK(text.find("--activation-func-clamp-value 7") != std::string::npos);
  CHECK(read(import_megatron(text, "again.sh", {})).model.mlp.clamp == 7);
}

TEST_CASE("what could not be mapped is listed, and what has no effect on a step is not") {
  const Imported imported = import_huggingface(mixtral, "config.json", {});
  CHECK(imported.unmapped == std::vector<std::string>{"colour_of_the_router = blue"});
  CHECK(import_megatron(megatron, "train.sh", {}).unmapped == std::vector<std::string>{"magic_number = 7"});
}

TEST_CASE("a Megatron-LM command line gives model, degrees, interleaving and batch") {
  const Scenario scenario = read(import_megatron(megatron, "train.sh", {}));
  const ParallelSpec& parallel = scenario.run.parallel;
  CHECK(parallel.tensor == 2);
  CHECK(parallel.pipeline == 2);
  CHECK(parallel.context == 2);
  CHECK(parallel.data == 2);  // 16 GPUs over 2 x 2 x 2
  CHECK(parallel.virtual_stages == 2);
  CHECK(parallel.context_method == ContextMethod::ring);
  CHECK(scenario.run.batch.global == 64);
  CHECK(scenario.run.recompute == Recompute::selective);
  CHECK(scenario.run.zero_stage == 1);
  CHECK(scenario.run.overlap.gradient_reduce);
  CHECK(parameters_of(scenario.model) == parameters_of(load_model("llama-3-8b", shipped())));
}

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

TEST_CASE("experts and latent attention come back from Megatron-LM") {
  Scenario scenario = read(import_huggingface(deepseek, "config.json", {}));
  scenario.run.parallel.data = 64;
  scenario.run.parallel.expert = 32;
  scenario.run.parallel.expert_tensor = 1;
  scenario.run.batch.global = 64;
  const Exported exported = export_megatron(scenario);
  const Scenario again = read(import_megatron(exported.text, "exported", {}));
  CHECK(parameters_of(again.model) == parameters_of(scenario.model));
  CHECK(again.model.moe.dense_blocks == 3);
  CHECK(again.run.parallel.expert == 32);
  CHECK(again.run.parallel.expert_tensor == 1);
  CHECK(export_megatron(again).text == exported.text);
  scenario.run.overlap.expert = scenario.run.overlap.delay_weight_grad = scenario.run.experts.router_padding = true;
  const RunSpec overlapping = read(import_megatron(export_megatron(scenario).text, "exported", {})).run;
  CHECK(overlapping.overlap.expert);
  CHECK(overlapping.overlap.delay_weight_grad);
  CHECK(overlapping.experts.router_padding);
  CHECK_FALSE(again.run.experts.router_padding);
  CHECK(read(import_megatron(exported.text + " --moe-router-padding-for-fp8", "x", {})).run.experts.router_padding);
  const auto modules = [&](const char* words) {
    return read(import_megatron(exported.text + " --recompute-granularity selective --recompute-modules " + words, "x",
                                {}))
        .run;
  };
  CHECK(modules("mla_up_proj mlp").recompute_modules.latent_up_projection);
  CHECK_FALSE(modules("mla_up_proj mlp").recompute_modules.mlp);  // of the dense blocks alone
  CHECK(modules("mlp moe").recompute_modules.mlp);
  CHECK(modules("mlp").recompute == Recompute::none);
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

TEST_CASE("a layout of Megatron-LM's letters says how many blocks each stage has") {
  using Blocks = std::vector<std::int64_t>;
  CHECK(blocks_of_layout("Et*3|t*2L") == Blocks{3, 2});
  CHECK(blocks_of_layout("E|(t|)*2t,mL") == Blocks{0, 1, 1, 2});
  Blocks deepseek_on_h100(32, 2);
  deepseek_on_h100.front() = deepseek_on_h100.back() = 1;
  CHECK(blocks_of_layout("Et|(tt|)*30mL") == deepseek_on_h100);
  for (const char* text :
       {"Ex", "E(t", "Et)", "E((((((((((t))))))))))", "E(t*60000)*60000", "t*99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(blocks_of_layout(text));
  }
  Scenario scenario = read(import_huggingface(deepseek, "config.json", {}));
  scenario.run.parallel.data = 64;
  scenario.run.batch.global = 64;
  scenario.run.parallel.pipeline = 2;
  scenario.run.parallel.virtual_stages = 2;
  scenario.run.partition = {PartitionRule::explicit_list, {16, 16, 16, 14}, {}};
  const std::string text = export_megatron(scenario).text;
  const RunSpec run = read(import_megatron(text, "exported", {})).run;
  CHECK(run.partition.blocks_per_stage == Blocks{16, 16, 16, 14});
  CHECK(run.parallel.virtual_stages == 2);
  const auto refused = [&](const char* layout) {
    CHECK_THROWS_WITH(import_megatron(text + " --pipeline-model-parallel-layout " + layout, "x", {}),
                      Catch::Contains("pipeline_model_parallel_layout"));
  };
  refused("Et*31|t*30L");  // without the module of multi-token prediction
  refused("Et*31|t*30|mL");
  refused("Ez");
  refused("t*15E|Lt*17");  // the embedding behind blocks, the loss before them
  refused("t*31|t*31");
  CHECK_THROWS_WITH(import_megatron(text + " --num-virtual-stages-per-pipeline-rank 4", "x", {}),
                    Catch::Contains("num_virtual_stages_per_pipeline_rank"));
}

TEST_CASE("what Megatron-LM would not start with is refused with what it takes") {
  const std::string text = "--num-layers 8 --hidden-size 1024 --num-attention-heads 16 --bf16 --world-size 8";
  const auto refused = [&](const std::string& more, const char* key, const char* expected) {
    CAPTURE(more);
    CHECK_THROWS_WITH(import_megatron(text + more, "x", {}), Catch::Contains(key) && Catch::Contains(expected));
  };
  refused(" --attention-backend bogus", "attention_backend", "auto, flash, fused, unfused or local");
  refused(" --transformer-impl mine", "transformer_impl", "transformer_engine or local");
  refused(" --expert-model-parallel-size 4", "expert_model_parallel_size", "num_experts");
  CHECK(read(import_megatron(text, "x", {})).run.framework == Framework::transformer_engine);  // its default
  CHECK(read(import_megatron(text + " --transformer-impl local", "x", {})).run.framework == Framework::megatron);
  CHECK(read(import_megatron(text + " --attention-backend local", "x", {})).run.attention_kernel ==
        AttentionKernel::fused_softmax);
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

TEST_CASE("contradictions about experts are refused in Megatron-LM's words") {
  Scenario scenario = read(import_huggingface(deepseek, "config.json", {}));
  scenario.run.parallel.data = 64;
  scenario.run.batch.global = 64;
  const std::string text = export_megatron(scenario).text;
  const auto refused = [&](const std::string& more, const char* key) {
    CAPTURE(more);
    CHECK_THROWS_WITH(import_megatron(text + more, "x", {}), Catch::Contains(key));
  };
  refused(" --expert-model-parallel-size 3", "expert_model_parallel_size");
  refused(" --moe-token-dispatcher-type carrier", "moe_token_dispatcher_type");
  refused(" --moe-token-dispatcher-type alltoall --moe-enable-deepep", "moe_enable_deepep");
  refused(" --use-megatron-fsdp --data-parallel-sharding-strategy all", "data_parallel_sharding_strategy");
  const Imported gathered = import_megatron(text + " --moe-token-dispatcher-type allgather", "x", {});
  CHECK(std::any_of(gathered.assumed.begin(), gathered.assumed.end(),
                    [](const std::string& line) { return line.find("allgather") != std::string::npos; }));
}

TEST_CASE("a DeepSpeed configuration gives batch, ZeRO and offload, and comes back the same") {
  const char* const text = R"({
    "train_batch_size": 256, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2,
    "bf16": {"enabled": true}, "gradient_clipping": 1.0, "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
    "zero_optimization": {"stage": 3, "overlap_comm": true, "reduce_bucket_size": 500000000,
      "offload_optimizer": {"device": "cpu", "pin_memory": true}, "zero_hpz_partition_size": 8,
      "zero_quantized_weights": true},
    "tensorboard": {"enabled": true}})";
  ImportRequest request;
  request.gpus = 32;
  const Imported imported = import_deepspeed(text, "ds_config.json", request);
  CHECK(imported.unmapped == std::vector<std::string>{"tensorboard.enabled = true"});
  const Scenario scenario = read(imported);
  CHECK(scenario.run.zero_stage == 3);
  CHECK(scenario.run.offload.optimizer == Home::host);
  CHECK(scenario.run.sharding.secondary == 8);
  CHECK(scenario.run.sharding.int8_gather);
  CHECK(scenario.run.batch.micro == 4);
  const Exported exported = export_deepspeed(scenario);
  CHECK(export_deepspeed(read(import_deepspeed(exported.text, "exported", request))).text == exported.text);
}

TEST_CASE("a DeepSpeed configuration that all-reduces in fp32 says so there and back") {
  const char* const text = R"({
    "train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true},
    "communication_data_type": "fp32", "zero_optimization": {"stage": 1, "reduce_scatter": false}})";
  ImportRequest request;
  request.gpus = 32;
  const Scenario scenario = read(import_deepspeed(text, "ds_config.json", request));
  CHECK_FALSE(scenario.run.sharding.reduce_scatter);
  CHECK(scenario.run.gradient_compression == GradientCompression::fp32);
  const Exported exported = export_deepspeed(scenario);
  const Scenario again = read(import_deepspeed(exported.text, "exported", request));
  CHECK_FALSE(again.run.sharding.reduce_scatter);
  CHECK(again.run.gradient_compression == GradientCompression::fp32);
}

TEST_CASE("torchtitan's JSON dump gives degrees, sharding and recompute") {
  const char* const text = R"({
    "job": {"description": "Llama 3 70B"}, "model": {"name": "llama3", "flavor": "70B"},
    "training": {"local_batch_size": 2, "global_batch_size": -1, "seq_len": 8192},
    "parallelism": {"data_parallel_shard_degree": 16, "data_parallel_replicate_degree": 2,
      "tensor_parallel_degree": 8, "pipeline_parallel_degree": 1, "context_parallel_degree": 1},
    "activation_checkpoint": {"mode": "selective", "selective_ac_option": "op"}, "compile": {"enable": true},
    "experimental": {"custom_import": ""}})";
  const Scenario scenario = read(import_torchtitan(text, "job.json", {}));
  CHECK(scenario.model.name == "llama-3-70b");
  CHECK(scenario.run.parallel.data == 32);
  CHECK(scenario.run.sharding.group == 16);
  CHECK(scenario.run.zero_stage == 3);
  CHECK(scenario.run.recompute == Recompute::per_op);
  CHECK(scenario.run.batch.global == 64);
}

TEST_CASE("torchtitan accumulates around its pipeline, there and back") {
  const char* const text = R"({
    "model": {"name": "llama3", "flavor": "70B"},
    "training": {"local_batch_size": 8, "global_batch_size": 64, "seq_len": 8192},
    "parallelism": {"data_parallel_shard_degree": 1, "data_parallel_replicate_degree": 2, "tensor_parallel_degree": 8,
      "pipeline_parallel_degree": 4, "pipeline_parallel_schedule": "1F1B", "context_parallel_degree": 1},
    "activation_checkpoint": {"mode": "none"}})";
  const Scenario scenario = read(import_torchtitan(text, "job.json", {}));
  CHECK(scenario.run.schedule.name == "1f1b");
  CHECK(scenario.run.schedule.flushes == 4);  // 64 sequences over two replicas of eight at a time
  const Scenario again = read(import_torchtitan(export_torchtitan(scenario).text, "job.toml", {}));
  CHECK(again.run.schedule.flushes == 4);
  CHECK(again.run.batch.global == 64);
  CHECK(again.run.batch.micro == 1);
}

TEST_CASE("contradictions are refused under the name that they have in their file") {
  CHECK(refused_key("megatron",
                    "--num-layers 8 --hidden-size 512 --num-attention-heads 6 "
                    "--tensor-model-parallel-size 4 --kv-channels 64") == "theirs:num_attention_heads");
  CHECK(refused_key("megatron",
                    "torchrun --nproc-per-node 8 p.py --num-layers 8 --hidden-size 512 "
                    "--num-attention-heads 6 --kv-channels 64 --pipeline-model-parallel-size 3") ==
        "theirs:pipeline_model_parallel_size");
  CHECK(refused_key("megatron",
                    "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --micro-batch-size 3 "
                    "--global-batch-size 64") == "theirs:global_batch_size");
  CHECK(refused_key("megatron", "--num-layers 8 --hidden-size $H --num-attention-heads 8") == "theirs:hidden_size");
  CHECK(refused_key("megatron", "--num-layers eight --hidden-size 512 --num-attention-heads 8") == "theirs:num_layers");
  ImportRequest request;
  request.gpus = 32;
  CHECK(refused_key("deepspeed", R"({"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4,
                                     "gradient_accumulation_steps": 2})",
                    request) == "theirs:train_batch_size");
  CHECK(refused_key("deepspeed", R"({"train_batch_size": 32, "fp16": {"enabled": true}, "bf16": {"enabled": true}})",
                    request) == "theirs:fp16.enabled");
  CHECK(refused_key("torchtitan", R"({"parallelism": {"data_parallel_shard_degree": 3, "tensor_parallel_degree": 8}})",
                    request) == "theirs:parallelism.data_parallel_shard_degree");
  CHECK(refused_key("huggingface", R"({"model_type": "llama", "hidden_size": 100, "num_hidden_layers": 2,
                                       "num_attention_heads": 3})") == "theirs:num_attention_heads");
  CHECK(refused_key("huggingface", R"({"model_type": "lama", "hidden_size": 100})") == "theirs:model_type");
}

TEST_CASE("hostile texts are refused, and none crashes") {
  const std::string deep(100000, '[');
  for (const std::string& text : std::vector<std::string>{
           "", "{", "[]", "null", "{\"a\": 1e999}", "--", "--=", "--num-layers", "--num-layers 'open", deep,
           "{\"model_type\": {}}", "{\"train_batch_size\": -1}", std::string(2U << 20U, 'x'), "a: *b", "a: &b [*b]",
           "[training]\nseq_len = 99999999999999999999", "{\"train_batch_size\": 1e30}",
           "--num-layers 9223372036854775807 --hidden-size 9223372036854775807 --num-attention-heads 1",
           "--num-layers 1 --hidden-size 1 --num-attention-heads 1 --vocab-size 1 --moe-layer-freq ([0]*99999999999"}) {
    for (const Form& form : import_forms()) {
      CAPTURE(form.name, text.substr(0, 40));
      try {
        form.import(text, "hostile", {});
      } catch (const InputError& error) {
        CHECK_FALSE(error.problems().empty());
      }
    }
  }
}

#ifdef STAGECRAFT_HAVE_YAML
TEST_CASE("a YAML with Megatron-LM's names is read like its command line") {
  const char* const text =
      "language_model:\n  num_layers: 4\n  hidden_size: 512\n  num_attention_heads: 8\n"
      "model_parallel:\n  tensor_model_parallel_size: 2\nmicro_batch_size: 1\n";
  const Scenario scenario = read(import_megatron(text, "example.yaml", {}));
  CHECK(scenario.model.hidden == 512);
  CHECK(scenario.run.parallel.tensor == 2);
}
#endif

#ifdef STAGECRAFT_HAVE_TOML
TEST_CASE("a TOML that is not UTF-8 is refused before it is parsed") {
  CHECK_THROWS_WITH(import_torchtitan("'\x85"
                                      "0'",
                                      "x.toml", {}),
                    Catch::Contains("UTF-8"));
}

TEST_CASE("torchtitan's TOML of older releases is read, and what is exported comes back") {
  const char* const text =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nbatch_size = 1\nseq_len = 8192\n"
      "tensor_parallel_degree = 2\ndata_parallel_shard_degree = 4\n"
      "[activation_checkpoint]\nmode = 'full'\n";
  const Scenario scenario = read(import_torchtitan(text, "llama3_8b.toml", {}));
  CHECK(scenario.run.parallel.tensor == 2);
  CHECK(scenario.run.recompute == Recompute::full);
  const Exported exported = export_torchtitan(scenario);
  CHECK(export_torchtitan(read(import_torchtitan(exported.text, "exported", {}))).text == exported.text);
}
#endif

TEST_CASE("a model that kept its name but not its shape has no flavor in torchtitan") {
  Scenario scenario = read(import_huggingface(deepseek, "config.json", {}));
  scenario.model.name = "deepseek-v3";
  CHECK_THAT(export_torchtitan(scenario).text, Catch::Contains("671B"));
  scenario.model.blocks = 8;
  CHECK_THAT(export_torchtitan(scenario).text, !Catch::Contains("671B"));
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
