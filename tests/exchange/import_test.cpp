#include <catch2/catch.hpp>

#include "exchange/exchange.hpp"
#include "exchange/foreign_config.hpp"
#include "exchange/megatron_layout.hpp"
#include "foreign_samples.hpp"

using namespace stagecraft;
using namespace stagecraft::testing;

namespace {

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

const char* const gpt_oss = R"({
  "model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64,
  "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 128,
  "num_experts_per_tok": 4, "experts_per_token": 4, "sliding_window": 128, "swiglu_limit": 7.0, "attention_bias": true,
  "layer_types": ["sliding_attention", "full_attention"], "initial_context_length": 4096, "vocab_size": 201088,
  "max_position_embeddings": 131072, "hidden_act": "silu", "tie_word_embeddings": false
})";

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

TEST_CASE("YaRN counts where it scales what it rotates, and other stretched positions are rotary ones") {
  const auto positions = [](const std::string& scaling) {
    std::string text = gpt_oss;
    text.insert(text.rfind('}'), ", \"rope_scaling\": " + scaling);
    const Imported imported = import_huggingface(text, "config.json", {});
    CHECK(imported.unmapped.empty());
    return read(imported).model.positions;
  };
  // huggingface.co/openai/gpt-oss-120b, config.json
  CHECK(positions(R"({"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0, "original_max_position_embeddings": 4096,
                      "rope_type": "yarn", "truncate": false})") == Positions::yarn);
  CHECK(positions(R"({"type": "yarn", "factor": 32.0, "attention_factor": 1.0})") == Positions::rotary);
  CHECK(positions(R"({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0})") ==
        Positions::rotary);
  CHECK(positions("null") == Positions::rotary);
}

TEST_CASE("positions of Megatron-LM are read by name, and an unknown one is refused") {
  const auto positions = [](const std::string& type) {
    return read(import_megatron(std::string(megatron) + " --position-embedding-type " + type, "train.sh", {}))
        .model.positions;
  };
  CHECK(positions("learned_absolute") == Positions::learned);
  CHECK(positions("mrope") == Positions::rotary);
  CHECK(positions("yarn") == Positions::yarn);
  CHECK(positions("none") == Positions::none);
  CHECK(positions("relative --relative-attention-num-buckets 64") == Positions::relative);
  CHECK(refused_key("megatron", std::string(megatron) + " --position-embedding-type sinusoidal") ==
        "theirs:position_embedding_type");
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

TEST_CASE("torchtitan's float8 scales by the tensor at hand, whole or by rows, there and back") {
  const auto job = [](const char* converters, const char* float8) {
    return std::string(R"({"model": {"name": "llama3", "flavor": "8B", "converters": [)") + converters +
           R"(]}, "training": {"local_batch_size": 1, "seq_len": 8192},
           "parallelism": {"data_parallel_shard_degree": 8}, "float8": {)" +
           float8 + "}}";
  };
  const auto scaling = [&](const char* float8) {
    return read(import_torchtitan(job(R"("float8")", float8), "job.json", {})).run.fp8_scaling;
  };
  CHECK(scaling("") == Fp8Scaling::current);
  CHECK(scaling(R"("recipe_name": "tensorwise")") == Fp8Scaling::current);
  CHECK(scaling(R"("recipe_name": "rowwise")") == Fp8Scaling::per_row);
  const Scenario by_rows = read(import_torchtitan(job(R"("float8")", R"("recipe_name": "rowwise")"), "job.json", {}));
  const Exported exported = export_torchtitan(by_rows);
  CHECK_THAT(exported.text, Catch::Contains("recipe_name = \"rowwise\""));
#ifdef STAGECRAFT_HAVE_TOML
  CHECK(read(import_torchtitan(exported.text, "job.toml", {})).run.fp8_scaling == Fp8Scaling::per_row);
#endif
  const Exported to_megatron = export_megatron(by_rows);
  CHECK(std::count(to_megatron.left_out.begin(), to_megatron.left_out.end(), "fp8_scaling per_row") == 1);
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
