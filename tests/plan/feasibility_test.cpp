#include "plan/feasibility.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "sample_scenarios.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

Finding finding(const Scenario& scenario, const std::string& code) {
  for (const Finding& found : check_feasible(scenario)) {
    if (found.code == code) return found;
  }
  return {};
}

}  // namespace

TEST_CASE("a layout that fills its cluster has nothing to say", "[plan]") {
  CHECK(check_feasible(scenario(8, 4, 2, 8)).empty());
}

TEST_CASE("attention heads must be whole on every tensor rank", "[plan]") {
  const Finding found = finding(scenario(6, 1, 1, 1), "heads-not-divisible");
  CHECK(found.pointer == "/parallel/tensor");
  CHECK(found.message == "16 attention heads cannot be split over 6 tensor ranks");
  CHECK(found.nearest == "4 or 8");
}

TEST_CASE("key-value heads are not replicated", "[plan]") {
  Scenario sample = scenario(8, 1, 1, 1);
  sample.model.attention.kv_heads = 4;
  CHECK(finding(sample, "kv-heads-not-divisible").nearest == "4");
}

TEST_CASE("blocks must fall evenly on uniform stages", "[plan]") {
  const Finding found = finding(scenario(1, 5, 1, 1, 24), "blocks-not-divisible");
  CHECK(found.pointer == "/parallel/pipeline");
  CHECK(found.nearest == "4 or 6");
}

TEST_CASE("more ranks than GPUs name the data degree that fits, or the nodes that would hold them", "[plan]") {
  const Finding data = finding(scenario(8, 4, 3, 8), "more-ranks-than-gpus");
  CHECK(data.pointer == "/parallel/data");
  CHECK(data.nearest == "2");
  const Finding nodes = finding(scenario(8, 4, 1, 2), "more-ranks-than-gpus");
  CHECK(nodes.pointer == "/cluster/nodes");
  CHECK(nodes.nearest == "4");
}

TEST_CASE("what a NIC achieves goes with its label: never above it, and far below is worth a note", "[plan]") {
  Scenario sample = scenario(2, 4, 2, 2);
  const BytesPerSecond label = sample.cluster.fabric.nic_nominal;
  sample.cluster.fabric.nic_achieved = label * 0.9;
  CHECK(check_feasible(sample).empty());
  sample.cluster.fabric.nic_nominal = label * 0.5;
  const Finding above = finding(sample, "achieved-above-nominal");
  CHECK(above.severity == Severity::error);
  CHECK(above.pointer == "/cluster/fabric/nic_achieved");
  sample.cluster.fabric.nic_nominal = label * 2;
  CHECK(finding(sample, "nic-far-below-label").severity == Severity::note);
  CHECK(finding(sample, "achieved-above-nominal").code.empty());
  sample.cluster.fabric.nic_nominal = label;
  sample.cluster.node.wires.front().achieved = sample.cluster.node.wires.front().nominal * 1.5;
  CHECK(finding(sample, "achieved-above-nominal").pointer == "/cluster/node/wires/0/achieved");
}

TEST_CASE("GPUs that stay idle are worth a note, not an error", "[plan]") {
  const Scenario sample = scenario(8, 4, 2, 10);
  CHECK(finding(sample, "idle-gpus").severity == Severity::note);
  CHECK_FALSE(has_errors(check_feasible(sample)));
}

TEST_CASE("the global batch must fall into whole micro-batches", "[plan]") {
  Scenario sample = scenario(8, 4, 2, 8);
  sample.run.batch = {30, 4};
  const Finding found = finding(sample, "batch-not-divisible");
  CHECK(found.pointer == "/batch/global");
  CHECK(found.nearest == "24 or 32");
}

TEST_CASE("sequence parallelism cuts the sequence and is idle without a tensor group", "[plan]") {
  Scenario sample = scenario(8, 4, 2, 8);
  sample.run.parallel.sequence_parallel = true;
  sample.run.sequence_length = 2044;
  CHECK(finding(sample, "sequence-not-divisible").nearest == "2040 or 2048");
  Scenario alone = scenario(1, 4, 2, 8);
  alone.run.parallel.sequence_parallel = true;
  CHECK(finding(alone, "sequence-parallel-without-tensor").severity == Severity::warning);
}

TEST_CASE("context ranks share the sequence evenly", "[plan]") {
  Scenario sample = scenario(4, 4, 2, 8);
  sample.run.parallel.context = 2;
  CHECK_FALSE(has_errors(check_feasible(sample)));
  sample.run.parallel.sequence_parallel = true;
  sample.run.sequence_length = 2044;
  CHECK(finding(sample, "sequence-not-divisible").nearest == "2040 or 2048");
}

TEST_CASE("an explicit list must fit the stages and add up", "[plan]") {
  Scenario sample = scenario(1, 4, 1, 1, 24);
  sample.run.partition = {PartitionRule::explicit_list, {6, 6, 6}, {}};
  CHECK(finding(sample, "partition-length").nearest == "4 entries");
  CHECK(finding(sample, "partition-sum").message == "the stages hold 18 blocks, the model has 24");
  sample.run.partition.blocks_per_stage = {12, 0, 6, 6};
  CHECK(finding(sample, "partition-entry").pointer == "/parallel/partition/1");
}

TEST_CASE("ZeRO has stages 0 to 3", "[plan]") {
  Scenario sample = scenario(8, 4, 2, 8);
  for (const std::int64_t stage : {0, 1, 2, 3}) {
    sample.run.zero_stage = stage;
    CHECK_FALSE(has_errors(check_feasible(sample)));
  }
  sample.run.zero_stage = 4;
  CHECK(finding(sample, "out-of-range").nearest == "3");
  sample.run.zero_stage = -1;
  CHECK(finding(sample, "out-of-range").nearest == "0");
}

TEST_CASE("tensor groups that leave the node are warned about", "[plan]") {
  Scenario sample = scenario(16, 1, 1, 2);
  CHECK(finding(sample, "tensor-beyond-node").severity == Severity::warning);
  CHECK_FALSE(has_errors(check_feasible(sample)));
}

TEST_CASE("a precision needs a peak rate and an attention kernel needs its architecture", "[plan]") {
  Scenario sample = scenario(8, 4, 2, 8);
  sample.run.precision = Precision::fp8_mixed;
  CHECK(finding(sample, "precision-without-peak").nearest == "bf16_mixed, bf16_pure, fp16_mixed, tf32, fp32");
  sample.run.attention_kernel = AttentionKernel::flash_3;
  CHECK(finding(sample, "attention-kernel-unavailable").nearest == "flash_2");
  sample.run.attention_kernel = AttentionKernel::flash_4;
  CHECK(finding(sample, "attention-kernel-unavailable").nearest == "flash_2");
  sample.run.precision = Precision::bf16_mixed;
  sample.cluster.gpu.architecture = "blackwell";
  CHECK_FALSE(has_errors(check_feasible(sample)));
}

TEST_CASE("all reasons are given at once", "[plan]") {
  Scenario sample = scenario(6, 5, 7, 1);
  sample.run.batch = {31, 2};
  sample.run.zero_stage = 4;
  const Findings findings = check_feasible(sample);
  const auto errors = std::count_if(findings.begin(), findings.end(),
                                    [](const Finding& found) { return found.severity == Severity::error; });
  // heads, key-value heads and MLP on 6 ranks; the message on 6; blocks on 5; the batch; ZeRO 4; the cluster
  CHECK(errors == 8);
  for (const Finding& found : findings) {
    CHECK_FALSE(found.message.empty());
    CHECK_FALSE(found.pointer.empty());
  }
}

TEST_CASE("numbers that are absurd are refused before anything is multiplied", "[plan]") {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), huge}) {
    Scenario sample = scenario(8, 4, 2, 8);
    sample.run.parallel = {value, value, value, value, value, false};
    sample.run.batch = {value, value};
    sample.model.attention.heads = value;
    sample.cluster.nodes = value;
    const Findings findings = check_feasible(sample);
    CHECK(findings.size() == 9);
    for (const Finding& found : findings) CHECK(found.code == "out-of-range");
  }
  Scenario large = scenario(8, 4, 2, 8);
  large.run.parallel = {largest_degree, 1, largest_degree, largest_degree, largest_degree, false};
  large.run.batch = {1 << 30, 1 << 30};
  CHECK(has_errors(check_feasible(large)));
}

TEST_CASE("a scenario too large to play is refused", "[plan]") {
  Scenario sample = scenario(1, 4, 2, 8);
  sample.run.batch = {1 << 26, 1};
  CHECK(finding(sample, "scenario-too-large").severity == Severity::error);
}

TEST_CASE("a setting that changes nothing is noted, at its place", "[plan]") {
  struct Row {
    const char* pointer;
    void (*change)(Scenario&);
  };
  const auto pointers_of = [](const Scenario& sample) {
    std::vector<std::string> pointers;
    for (const Finding& found : check_feasible(sample)) {
      CHECK(found.severity != Severity::error);
      if (found.code == "no-effect") pointers.push_back(found.pointer);
    }
    return pointers;
  };
  // One rank on each axis: nothing is sent, reduced or gathered.
  for (const Row& row : {
           Row{"/overlap/gradient_reduce", [](Scenario& s) { s.run.overlap.gradient_reduce = true; }},
           Row{"/gradient_bucket", [](Scenario& s) { s.run.gradient_bucket_bytes = 1e6; }},
           Row{"/overlap/parameter_gather", [](Scenario& s) { s.run.overlap.parameter_gather = true; }},
           Row{"/overlap/pipeline", [](Scenario& s) { s.run.overlap.pipeline = false; }},
           Row{"/overlap/tensor", [](Scenario& s) { s.run.overlap.tensor = true; }},
           Row{"/scatter_gather", [](Scenario& s) { s.run.scatter_gather = false; }},
           Row{"/receive_placement", [](Scenario& s) { s.run.receive_placement = ReceivePlacement::before_consumer; }},
           Row{"/parallel/virtual_stages", [](Scenario& s) { s.run.parallel.virtual_stages = 2; }},
           Row{"/schedule",
               [](Scenario& s) {
                 s.run.schedule = {"", "table.csv", 4, {}, 1};
               }},
           Row{"/fp32_gradients",
               [](Scenario& s) {
                 s.run.precision = Precision::fp32;
                 s.run.fp32_gradients = false;
               }},
       }) {
    Scenario sample = scenario(1, 1, 1, 1);
    CHECK(pointers_of(sample).empty());
    row.change(sample);
    CHECK(pointers_of(sample) == std::vector<std::string>{row.pointer});
  }
  // The same settings where they do something.
  Scenario busy = scenario(2, 2, 2, 1);
  busy.run.overlap = {true, true, false, true};
  busy.run.zero_stage = 1;
  busy.run.gradient_bucket_bytes = 1e6;
  busy.run.scatter_gather = false;
  busy.run.receive_placement = ReceivePlacement::before_consumer;
  busy.run.parallel.virtual_stages = 2;
  busy.run.fp32_gradients = false;
  CHECK(pointers_of(busy).empty());
  busy.run.overlap.gradient_reduce = false;
  CHECK(pointers_of(busy) == std::vector<std::string>{"/gradient_bucket"});
  busy.run.zero_stage = 0;
  CHECK(pointers_of(busy) == std::vector<std::string>{"/gradient_bucket", "/overlap/parameter_gather"});
  busy.run.parallel.sequence_parallel = true;
  CHECK(pointers_of(busy) ==
        std::vector<std::string>{"/gradient_bucket", "/overlap/parameter_gather", "/scatter_gather"});
}

TEST_CASE("without replicas nothing is reduced, but in schedules that hold every stage twice", "[plan]") {
  Scenario sample = scenario(1, 4, 1, 1);
  sample.run.overlap.gradient_reduce = true;
  const auto noted = [&](const char* schedule) {
    sample.run.schedule.name = schedule;
    const Findings findings = check_feasible(sample);
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding& found) { return found.pointer == "/overlap/gradient_reduce"; });
  };
  CHECK(noted("1f1b"));
  CHECK_FALSE(noted("dualpipe"));
  CHECK_FALSE(noted("chimera"));
}

TEST_CASE("settings of experts that change nothing are noted", "[plan]") {
  const auto noted = [](const Scenario& sample, const char* pointer) {
    for (const Finding& found : check_feasible(sample)) {
      if (found.code == "no-effect" && found.pointer == pointer) return true;
    }
    return false;
  };
  Scenario busy = scenario(1, 1, 8, 1);
  busy.model.moe.experts = 8;
  busy.model.moe.top_k = 2;
  busy.model.moe.ffn_hidden = 1024;
  busy.run.parallel.expert = 8;
  busy.run.batch = {32, 1};
  busy.run.precision = Precision::fp8_mixed;
  busy.run.framework = Framework::transformer_engine;
  busy.run.overlap.expert = busy.run.overlap.delay_weight_grad = busy.run.experts.router_padding = true;
  busy.run.experts.imbalance = 0.2;
  busy.run.experts.seed = 3;
  const char* const all[] = {"/overlap/expert", "/overlap/delay_weight_grad", "/experts/router_padding",
                             "/experts/dispatcher", "/experts/seed"};
  for (const char* pointer : all) CHECK_FALSE(noted(busy, pointer));
  Scenario other = busy;
  other.run.batch = {8, 1};  // one micro-batch
  CHECK(noted(other, "/overlap/expert"));
  other = busy;
  other.run.overlap.expert = false;
  CHECK(noted(other, "/overlap/delay_weight_grad"));
  other = busy;
  other.run.experts.dispatcher = Dispatcher::deduplicated;
  CHECK(noted(other, "/experts/router_padding"));
  CHECK_FALSE(noted(other, "/experts/dispatcher"));
  other.run.parallel.expert = 1;
  CHECK(noted(other, "/experts/dispatcher"));
  CHECK(noted(other, "/overlap/delay_weight_grad"));
  other = busy;
  other.model.moe.capacity_factor = 1;
  CHECK(noted(other, "/experts/router_padding"));
  other = busy;
  other.run.framework = Framework::megatron;
  CHECK(noted(other, "/experts/router_padding"));
  other = busy;
  other.run.experts.imbalance = 0;
  CHECK(noted(other, "/experts/seed"));
}

TEST_CASE("gradients turned into the format that they have, and a reduction that nobody shards, are noted", "[plan]") {
  const auto pointers_of = [](const Scenario& sample) {
    std::vector<std::string> pointers;
    for (const Finding& found : check_feasible(sample)) {
      if (found.code == "no-effect") pointers.push_back(found.pointer);
    }
    return pointers;
  };
  Scenario sample = scenario(1, 1, 4, 1);
  sample.run.recipe = StateRecipe::mixed_16bit_gradients;
  sample.run.gradient_compression = GradientCompression::fp32;
  sample.run.zero_stage = 1;
  sample.run.sharding.reduce_scatter = false;
  CHECK(pointers_of(sample).empty());
  sample.run.gradient_compression = GradientCompression::fp16;
  CHECK(pointers_of(sample) == std::vector<std::string>{"/gradient_compression"});
  sample.run.recipe = StateRecipe::mixed_fp32_gradients;
  CHECK(pointers_of(sample).empty());
  sample.run.gradient_compression = GradientCompression::fp32;
  CHECK(pointers_of(sample) == std::vector<std::string>{"/gradient_compression"});
  sample.run.gradient_compression = GradientCompression::none;
  sample.run.zero_stage = 0;
  CHECK(pointers_of(sample) == std::vector<std::string>{"/sharding/reduce_scatter"});
}

TEST_CASE("a captured graph cannot wait for the host", "[plan]") {
  Scenario sample = scenario(1, 1, 4, 1);
  sample.run.host.attention_waits = true;
  CHECK_FALSE(has_errors(check_feasible(sample)));
  sample.run.cuda_graphs = true;
  CHECK(finding(sample, "wait-in-graph").pointer == "/host/attention_waits");
}

TEST_CASE("plain layers know no blocks, heads or tokens, and are not sliced", "[plan]") {
  Scenario sample = scenario(1, 2, 2, 1);
  PlainLayerSpec layer;
  layer.name = "layer";
  sample.model = {};
  sample.model.plain_layers = {layer, layer};
  CHECK_FALSE(has_errors(check_feasible(sample)));
  Scenario sliced = sample;
  sliced.run.parallel.context = 2;
  CHECK(finding(sliced, "plain-layers-not-sliced").pointer == "/parallel/context");
  sample.run.recompute = Recompute::selective;
  sample.run.fused_kernels = false;
  sample.run.gradient_accumulation_fusion = false;
  sample.run.scatter_gather = false;
  sample.run.parallel.sequence_parallel = true;
  const Findings findings = check_feasible(sample);
  CHECK(std::count_if(findings.begin(), findings.end(),
                      [](const Finding& found) { return found.code == "no-effect"; }) == 5);
}

TEST_CASE("failures that come faster than checkpoints are written are told of") {
  Scenario sample = samples::scenario(8, 1, 2, 2);  // 16 GPUs
  sample.run.training.failures.gpu_hours = 16;      // a failure an hour
  sample.run.training.failures.checkpoint_s = 3599;
  CHECK(finding(sample, "no-progress").code.empty());
  sample.run.training.failures.checkpoint_s = 3601;
  CHECK(finding(sample, "no-progress").pointer == "/training/failures/checkpoint_s");
  CHECK(finding(sample, "no-progress").nearest == "360");
}
