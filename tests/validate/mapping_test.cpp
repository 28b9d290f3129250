#include "validate/mapping.hpp"

#include <catch2/catch.hpp>

#include "validate/validate.hpp"

using namespace stagecraft;

namespace {

const Library library{
    {std::string(STAGECRAFT_SOURCE_DIR) + "/scenarios", std::string(STAGECRAFT_SOURCE_DIR) + "/topologies"}};

Record gpt_on_two_nodes() {
  Record record;
  record.id = "sample";
  record.group = "nobody";
  record.kind = "measured";
  record.gpu = "A100-SXM4-80GB";
  record.gpus = 16;
  record.interconnect = "8 GPUs/node NVLink; 4 x 100 Gb/s RoCE per node";
  record.model.name = "GPT";
  record.model.layers = 24;
  record.model.hidden = 2048;
  record.model.heads = 16;
  record.model.sequence = 2048;
  record.parallel.tensor = 2;
  record.parallel.pipeline = 2;
  record.micro_batch = 1;
  record.global_batch = 64;
  record.precision = "fp16 mixed";
  record.recompute = "full";
  record.flash_attention = false;
  record.measured.step_time_s = 3;
  return record;
}

bool inferred(const Mapping& mapping, const std::string& pointer) {
  for (const Inferred& input : mapping.inferred) {
    if (input.pointer == pointer) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a record becomes a scenario that loads, and says what it inferred") {
  const Mapping mapping = map_record(gpt_on_two_nodes());
  REQUIRE(mapping.reason.empty());
  const Scenario scenario = parse_scenario(mapping.scenario, "sample", {}, library);
  CHECK(scenario.run.parallel.data == 4);
  CHECK(scenario.run.parallel.tensor == 2);
  CHECK(scenario.model.mlp.ffn_hidden == 8192);
  CHECK(scenario.model.vocabulary == 50257);
  CHECK(scenario.cluster.nodes == 2);
  CHECK(scenario.cluster.fabric.nic_nominal.value == Approx(50e9 / 8));  // 400 Gb/s over eight GPUs
  CHECK(inferred(mapping, "/model/vocabulary"));
  CHECK(inferred(mapping, "/parallel/data"));
  CHECK_FALSE(inferred(mapping, "/batch/micro"));
}

TEST_CASE("what the program cannot express is left out with its reason") {
  const auto reason = [](auto change) {
    Record record = gpt_on_two_nodes();
    change(record);
    return map_record(record).reason;
  };
  CHECK(reason([](Record& record) { record.model.experts = RecordExperts{}; }).find("model.moe.expert_ffn") !=
        std::string::npos);
  CHECK(reason([](Record& record) { record.offload = "a tape robot"; }).find("offload") != std::string::npos);
  CHECK(reason([](Record& record) { record.gpu = "TPU v5"; }).find("TPU v5") != std::string::npos);
  CHECK(reason([](Record& record) { record.gpus.reset(); }).find("gpus") != std::string::npos);
  CHECK(reason([](Record& record) { record.parallel.tensor = 3; }).find("16 GPUs") != std::string::npos);
  CHECK(reason([](Record& record) { record.parallel.schedule = "spiral"; }).find("spiral") != std::string::npos);
  CHECK(reason([](Record& record) { record.recompute = "selective (every 3rd layer)"; }).find("every") !=
        std::string::npos);
}

TEST_CASE("a record that is left out is not compared") {
  Record record = gpt_on_two_nodes();
  record.model.experts = RecordExperts{};
  const Outcome outcome = predict(record, library);
  CHECK_FALSE(outcome.step_time);
  CHECK_FALSE(outcome.oom);
  REQUIRE(outcome.skipped.size() == 1);
  CHECK(outcome.skipped.front().quantity == "record");
}

TEST_CASE("blocks that do not divide by the stages leave one less at both ends if that divides") {
  Record record = gpt_on_two_nodes();
  record.model.layers = 30;
  record.parallel.pipeline = 8;
  record.parallel.tensor = 2;
  const Scenario scenario = parse_scenario(map_record(record).scenario, "sample", {}, library);
  CHECK(scenario.run.partition.blocks_per_stage == std::vector<std::int64_t>{3, 4, 4, 4, 4, 4, 4, 3});
}

TEST_CASE("the layouts paper's code all-reduces in fp32, gathers logits and reads lengths back") {
  Record record = gpt_on_two_nodes();
  record.group = "hagemann";
  record.interconnect = "8 x A100 per node with NVLink; inter-node network not stated";
  record.gpus = 128;
  record.parallel.zero_stage = 1;
  const Mapping mapping = map_record(record);
  REQUIRE(mapping.reason.empty());
  const Scenario scenario = parse_scenario(mapping.scenario, "sample", {}, library);
  CHECK(scenario.run.gradient_compression == GradientCompression::fp32);
  CHECK_FALSE(scenario.run.sharding.reduce_scatter);
  CHECK(scenario.run.loss_kernel == LossKernel::full_fp32);
  CHECK(scenario.run.host.attention_waits);
  CHECK_FALSE(scenario.run.scatter_gather);
  CHECK(scenario.calibration == "a100-hdr+pytorch-2023");
  CHECK(scenario.cluster.fabric.nic_nominal.value == Approx(200e9 / 8 / 8));  // per node, over eight GPUs
  record.gpus = 64;
  const Scenario small = parse_scenario(map_record(record).scenario, "sample", {}, library);
  CHECK(small.cluster.fabric.nic_nominal.value == Approx(200e9 / 8));  // as the cluster's file has it
}

TEST_CASE("a timed run did fit, and its errors are relative") {
  const Outcome outcome = predict(gpt_on_two_nodes(), library);
  REQUIRE(outcome.step_time);
  CHECK(outcome.step_time->error == Approx(outcome.step_time->predicted / 3 - 1));
  REQUIRE(outcome.oom);
  CHECK_FALSE(outcome.oom->measured);
  REQUIRE(outcome.step_time_interval);
  CHECK(outcome.step_time_interval->low < outcome.step_time->predicted);
  CHECK(outcome.step_time_interval->high > outcome.step_time->predicted);
}

TEST_CASE("the bubble of 1F1B comes from the record's stage times alone") {
  Record record = gpt_on_two_nodes();
  record.gpus = 4;
  record.parallel.tensor = 1;
  record.parallel.pipeline = 4;
  record.global_batch = 8;
  record.measured.profile = RecordProfile{0.001, 0.001, 0.001, 0};
  record.measured.bubble = 0.25;
  const Outcome outcome = predict(record, library);
  REQUIRE(outcome.bubble);
  CHECK(outcome.bubble->predicted == Approx(3.0 / 11));  // (p - 1) / (m + p - 1)
  CHECK(outcome.bubble->error == Approx(3.0 / 11 - 0.25));
}

TEST_CASE("layouts of one model are ranked in a set, other models are not in it") {
  std::vector<Record> records;
  for (const std::int64_t tensor : {1, 2, 4}) {
    records.push_back(gpt_on_two_nodes());
    records.back().id += std::to_string(tensor);
    records.back().parallel.tensor = tensor;
    records.back().measured.step_time_s = 1.0 + static_cast<double>(tensor);
  }
  records.push_back(gpt_on_two_nodes());
  records.back().model.layers = 12;
  const Validation validation = validate(records, library);
  REQUIRE(validation.sets.size() == 1);
  CHECK(validation.sets.front().outcomes == std::vector<std::size_t>{0, 1, 2});
  CHECK(validation.sets.front().best == "sample1");
  REQUIRE(validation.groups.size() == 1);
  CHECK(validation.groups.front().compared == 4);
}

TEST_CASE("of a model with experts time and memory are compared") {
  Record record = gpt_on_two_nodes();
  record.model.experts = RecordExperts{8, 2, 4096, 0, 0, {}, {}};
  record.measured.memory = {{MemoryReading::allocated, MemoryOf::largest, 2e10}};
  const Outcome outcome = predict(record, library);
  CHECK(outcome.step_time);
  REQUIRE(outcome.memory.size() == 1);
  CHECK(outcome.memory.front().predicted > 1e9);
  CHECK(outcome.memory.front().error == Approx(outcome.memory.front().predicted / 2e10 - 1));
}

namespace {

Record experts_on_two_nodes(const char* overlap) {
  Record record = gpt_on_two_nodes();
  record.group = "mbridge-2606";
  record.gpu = "H100-SXM5-80GB";
  record.interconnect.clear();
  record.model.name = "Qwen3_30B_a3B";
  record.model.experts = RecordExperts{128, 8, 768, 0, 0, {}, {}};
  record.parallel.tensor = record.parallel.pipeline = 1;
  record.parallel.expert = 16;
  record.precision = "bf16 mixed";
  record.recompute.clear();
  record.overlap = overlap;
  return record;
}

}  // namespace

TEST_CASE("a record that names a profile is predicted with it") {
  Record record = gpt_on_two_nodes();
  record.calibration = "a100-hdr+megatron-2022";
  const Mapping mapping = map_record(record);
  CHECK(parse_scenario(mapping.scenario, "sample", {}, library).calibration == "a100-hdr+megatron-2022");
  CHECK_FALSE(inferred(mapping, "/calibration"));
}

TEST_CASE("a record's words choose the dispatcher, what hides it and what it holds of the GPU") {
  struct Case {
    const char* overlap;
    Dispatcher dispatcher;
    bool overlaps;
    double held;  // multiprocessors of 132
  };
  const Case cases[] = {{"HybridEP dispatcher, no EP overlap.", Dispatcher::deduplicated, false, 0},
                        {"HybridEP dispatcher, plain EP overlap.", Dispatcher::deduplicated, true, 16},
                        {"HybridEP with 32 SMs, EP overlap.", Dispatcher::deduplicated, true, 32},
                        {"NCCL all-to-all dispatcher, no EP overlap.", Dispatcher::all_to_all, false, 0},
                        {"NCCL all-to-all dispatcher, EP overlap.", Dispatcher::all_to_all, true, 24}};
  for (const Case& expected : cases) {
    CAPTURE(expected.overlap);
    const Mapping mapping = map_record(experts_on_two_nodes(expected.overlap));
    REQUIRE(mapping.reason.empty());
    const RunSpec run = parse_scenario(mapping.scenario, "sample", {}, library).run;
    CHECK(run.experts.dispatcher == expected.dispatcher);
    CHECK(run.overlap.expert == expected.overlaps);
    CHECK(run.overlap.slowdown == Approx(expected.held / (132 - expected.held)));
    CHECK_FALSE(inferred(mapping, "/experts/dispatcher"));
  }
}

TEST_CASE("where a record of NVIDIA's tables is silent about experts, its recipe speaks") {
  const Mapping sixteen = map_record(experts_on_two_nodes(""));
  CHECK(parse_scenario(sixteen.scenario, "sample", {}, library).run.experts.dispatcher == Dispatcher::deduplicated);
  CHECK(inferred(sixteen, "/experts/dispatcher"));
  CHECK(inferred(sixteen, "/recompute"));
  CHECK_FALSE(sixteen.recompute_is_open);
  Record inside_a_node = experts_on_two_nodes("");
  inside_a_node.parallel.expert = 8;
  CHECK(parse_scenario(map_record(inside_a_node).scenario, "sample", {}, library).run.experts.dispatcher ==
        Dispatcher::all_to_all);
  Record blackwell = inside_a_node;
  blackwell.gpu = "B200-SXM-180GB";
  CHECK(parse_scenario(map_record(blackwell).scenario, "sample", {}, library).run.experts.dispatcher ==
        Dispatcher::deduplicated);
  Record other_group = experts_on_two_nodes("");
  other_group.group = "nobody";
  CHECK(map_record(other_group).recompute_is_open);
}

TEST_CASE("NVIDIA's recipes say what is recomputed, and never divide an expert over the tensor group") {
  Record record = experts_on_two_nodes("");
  record.model.name = "GPT OSS 120B";
  record.parallel.tensor = 2;
  record.parallel.expert = 8;
  const RunSpec run = parse_scenario(map_record(record).scenario, "sample", {}, library).run;
  CHECK(run.recompute == Recompute::selective);
  CHECK(run.recompute_modules.norms);
  CHECK(run.recompute_modules.activation);
  CHECK_FALSE(run.recompute_modules.core_attention);
  CHECK(run.parallel.expert_tensor == 1);
  CHECK(run.recipe == StateRecipe::mixed_16bit_and_fp32_gradients);
}

TEST_CASE("NVIDIA's recipes that overlap experts delay weight gradients, and may leave tensor parallelism exposed") {
  Record record = experts_on_two_nodes("");
  record.model.name = "Qwen3 235B A22B";
  record.parallel.expert = 32;
  record.parallel.tensor = 2;
  const OverlapSpec overlap = parse_scenario(map_record(record).scenario, "sample", {}, library).run.overlap;
  CHECK(overlap.expert);
  CHECK(overlap.delay_weight_grad);
  CHECK_FALSE(overlap.tensor);
  CHECK(inferred(map_record(record), "/overlap/tensor"));
  // Named words go before a recipe.
  record.overlap = "NCCL all-to-all dispatcher, EP overlap, delayed weight gradients.";
  CHECK(parse_scenario(map_record(record).scenario, "sample", {}, library).run.overlap.delay_weight_grad);
  record.overlap = "NCCL all-to-all dispatcher, EP overlap.";
  CHECK_FALSE(parse_scenario(map_record(record).scenario, "sample", {}, library).run.overlap.delay_weight_grad);
}

TEST_CASE("what hides tensor parallelism is the software's: NVIDIA's recipes do, Meta's code of Llama 3 does not") {
  Record record = gpt_on_two_nodes();
  record.group = "nemo-2407";
  CHECK(parse_scenario(map_record(record).scenario, "sample", {}, library).run.overlap.tensor);
  record.group = "llama3-paper";
  const OverlapSpec overlap = parse_scenario(map_record(record).scenario, "sample", {}, library).run.overlap;
  CHECK_FALSE(overlap.tensor);
  CHECK(overlap.pipeline);
}

TEST_CASE("GPT-OSS attends to 128 tokens in every other block, has biases everywhere and clamps") {
  Record record = experts_on_two_nodes("");
  record.model.name = "GPT OSS 120B";
  record.parallel.expert = 8;
  const ModelSpec model = parse_scenario(map_record(record).scenario, "sample", {}, library).model;
  CHECK(model.attention.window == 128);
  CHECK(model.attention.global_every == 2);
  CHECK(model.attention.bias);
  CHECK(model.mlp.bias);
  CHECK(model.mlp.clamp == 7);
}

namespace {

Record deepseek_v3(std::int64_t pipeline, std::int64_t virtual_stages, const char* notes) {
  Record record = experts_on_two_nodes("");
  record.gpu = "GB200-186GB";
  record.gpus = 32 * pipeline;
  record.model.name = "DeepSeekV3";
  record.model.layers = 61;
  record.model.attention = "MLA (q_lora 1536, kv_lora 512, nope 128, rope 64, v 128)";
  record.parallel.pipeline = pipeline;
  record.parallel.virtual_stages = virtual_stages;
  record.parallel.data = 32;
  record.parallel.schedule = virtual_stages > 1 ? "interleaved 1F1B" : "1F1B";
  record.global_batch = 32 * 64;
  record.micro_batch = 1;
  record.notes = notes;
  return record;
}

using Blocks = std::vector<std::int64_t>;

Blocks blocks_of(const Record& record) {
  const Mapping mapping = map_record(record);
  INFO(mapping.reason);
  REQUIRE(mapping.reason.empty());
  return parse_scenario(mapping.scenario, "sample", {}, library).run.partition.blocks_per_stage;
}

}  // namespace

TEST_CASE("DeepSeek-V3's last stage is light, for it has the head twice") {
  Blocks of_16(16, 4), of_32(32, 2);
  of_16.back() = 2;  // a block and the module of multi-token prediction
  CHECK(blocks_of(deepseek_v3(16, 1, "")) == of_16);
  CHECK(blocks_of(deepseek_v3(4, 4, "")) == of_16);
  of_32.front() = of_32.back() = 1;
  CHECK(blocks_of(deepseek_v3(8, 4, "")) == of_32);
  of_16.back() = 1;
  CHECK(blocks_of(deepseek_v3(16, 1, "w/o MTP")) == of_16);
  const auto modules = [](const char* notes) {
    return parse_scenario(map_record(deepseek_v3(16, 1, notes)).scenario, "sample", {}, library)
        .model.prediction_modules;
  };
  CHECK(modules("") == 1);
  CHECK(modules("w/o MTP") == 0);
}

TEST_CASE("modules of selective recompute are read in Megatron-LM's words") {
  Record record = deepseek_v3(16, 1, "");
  record.recompute = "selective (layernorm, moe_act)";
  const RunSpec run = parse_scenario(map_record(record).scenario, "sample", {}, library).run;
  CHECK(run.recompute_modules.norms);
  CHECK(run.recompute_modules.activation);
  CHECK_FALSE(run.recompute_modules.latent_up_projection);
}

TEST_CASE("a precision of four bits is refused, fp8 of NVIDIA's tables is scaled by the tensor at hand") {
  Record record = experts_on_two_nodes("");
  record.precision = "NVFP4";
  CHECK(map_record(record).reason == "precision \"NVFP4\" cannot be expressed");
  record.precision = "FP8";
  const Mapping mapping = map_record(record);
  CHECK(parse_scenario(mapping.scenario, "sample", {}, library).run.fp8_scaling == Fp8Scaling::current);
  CHECK(inferred(mapping, "/fp8_scaling"));
  record.precision = "float8 rowwise";
  CHECK(parse_scenario(map_record(record).scenario, "sample", {}, library).run.fp8_scaling == Fp8Scaling::per_row);
  record.precision = "FP8";
  record.group = "mlperf";
  CHECK(parse_scenario(map_record(record).scenario, "sample", {}, library).run.fp8_scaling == Fp8Scaling::per_tensor);
}

TEST_CASE("activations that a record sends to the host leave the GPU, of as many blocks as it says") {
  Record record = gpt_on_two_nodes();
  record.offload = "activations of 40 blocks to CPU";
  const OffloadSpec offload = parse_scenario(map_record(record).scenario, "sample", {}, library).run.offload;
  CHECK(offload.activations == Home::host);
  CHECK(offload.activation_blocks == 40);
  CHECK(offload.optimizer == Home::gpu);
}

TEST_CASE("Qwen3 normalises queries and keys, other families of its shape do not") {
  const auto normalises = [](const char* name) {
    Record record = gpt_on_two_nodes();
    record.model.name = name;
    return parse_scenario(map_record(record).scenario, "sample", {}, library).model.attention.qk_norm;
  };
  CHECK(normalises("Qwen3_30B_a3B"));
  CHECK_FALSE(normalises("Llama 3 8B"));
}

TEST_CASE("a record of nanotron's gets its gates, buckets and logits") {
  Record record = gpt_on_two_nodes();
  record.group = "nanotron";
  record.model.ffn = 8192;  // its stages are cut by weights
  record.model.vocabulary = 131072;
  CHECK(parse_scenario(map_record(record).scenario, "sample", {}, library).run.framework == Framework::nanotron);
}

TEST_CASE("accuracy is the mean over runs that fit and runs that do not, without those at the limit") {
  // Fits: two right, one wrong; fails: one right, one at the limit.
  const std::vector<OomComparison> outcomes{
      {false, false, false}, {false, false, false}, {true, false, false}, {true, true, false}, {false, true, true}};
  CHECK(*balanced_accuracy(outcomes) == Approx((2.0 / 3 + 1.0) / 2));
  CHECK_FALSE(balanced_accuracy(std::vector<OomComparison>{{false, false, false}}));
}
