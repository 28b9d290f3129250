#include "spec/read_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file_io.hpp"
#include "spec/library.hpp"
#include "spec/precision.hpp"
#include "spec/read_memory.hpp"
#include "spec/read_model.hpp"
#include "spec/read_placement.hpp"
#include "spec/read_training.hpp"
#include "spec/usual_choices.hpp"

namespace stagecraft {
namespace {

template <class Choice>
std::string printed(Choice choice) {
  return to_text(choice);
}

ExpertsSpec read_experts(const JsonNode& node, Reading& reading) {
  ExpertsSpec experts;
  ObjectReader fields(node, "/experts", reading);
  fields.defaulted("dispatcher", experts.dispatcher, word_of(dispatcher_words), printed<Dispatcher>,
                   "every copy of a token travels");
  fields.defaulted("fp8_dispatch", experts.fp8_dispatch, read_boolean, text_of_bool, "tokens travel in 16 bits");
  fields.optional("router_padding", experts.router_padding, read_boolean);
  fields.defaulted("imbalance", experts.imbalance, number_in(0, 4), text_of_number, "every expert has its even share");
  fields.optional("seed", experts.seed, integer_in(0, (std::int64_t{1} << 53) - 1));
  fields.finish();
  return experts;
}

std::vector<LengthShare> read_lengths(const JsonNode& node, Reading& reading) {
  std::vector<LengthShare> lengths;
  const std::vector<JsonNode> elements = node.elements();
  constexpr std::size_t most = 4096;
  if (elements.empty() || elements.size() > most) node.fail(fmt::format("1 to {} lengths", most));
  double sum = 0;
  for (const JsonNode& document : elements) {
    LengthShare one;
    ObjectReader fields(document, "/batch/lengths/" + std::to_string(lengths.size()), reading);
    fields.required("length", one.length, integer_in(1, model_limits::sequence));
    fields.required("share", one.share, number_in(0, 1));
    fields.finish();
    lengths.push_back(one);
    sum += one.share;
  }
  if (sum < 0.999 || sum > 1.001) node.fail("shares of all tokens that add up to 1", "", fmt::format("{:.4g}", sum));
  return lengths;
}

PartitionSpec read_count(const JsonNode& node, Reading& reading) {
  PartitionSpec partition{PartitionRule::count, {}, {}};
  ObjectReader fields(node, "/parallel/partition", reading);
  fields.required("count", partition.types, [](const JsonNode& list) {
    std::vector<std::string> types;
    for (const JsonNode& type : list.elements()) types.emplace_back(read_string(type));
    if (types.empty() || types.size() > 64) list.fail("1 to 64 types of layers");
    return types;
  });
  fields.finish();
  return partition;
}

PartitionSpec read_partition(const JsonNode& node, Reading& reading) {
  if (node.is(JsonKind::array)) {
    if (node.size() > static_cast<std::size_t>(run_limits::pipeline * 4)) node.fail("a shorter list");
    return {PartitionRule::explicit_list, read_integers(node, 0, model_limits::blocks), {}};
  }
  if (node.is(JsonKind::object)) return read_count(node, reading);
  if (!node.is(JsonKind::string))
    node.fail(
        R"("uniform", "parameters", "work", "time", "time_and_memory", a list with the number of blocks of each stage or {"count": [types]})");
  return {word_of(partition_words)(node), {}, {}};
}

std::int64_t data_ranks_that_fit(const ParallelSpec& parallel, const ClusterSpec& cluster) {
  const std::int64_t gpus = cluster.nodes * gpus_per_node(cluster.node);
  const std::int64_t others = parallel.tensor * parallel.context * parallel.pipeline;
  return std::clamp<std::int64_t>(gpus / others, 1, run_limits::data);
}

ParallelSpec read_parallel(const JsonNode& node, const ClusterSpec& cluster, PartitionSpec& partition,
                           Reading& reading) {
  ParallelSpec parallel;
  ObjectReader fields(node, "/parallel", reading);
  fields.defaulted("tensor", parallel.tensor, integer_in(1, run_limits::tensor), text_of, "no tensor parallelism");
  fields.defaulted("context", parallel.context, integer_in(1, run_limits::context), text_of, "no context parallelism");
  fields.defaulted("pipeline", parallel.pipeline, integer_in(1, run_limits::pipeline), text_of,
                   "no pipeline parallelism");
  fields.defaulted("virtual_stages", parallel.virtual_stages, integer_in(1, run_limits::virtual_stages), text_of,
                   "one chunk of layers per pipeline rank");
  parallel.data = data_ranks_that_fit(parallel, cluster);
  fields.defaulted("data", parallel.data, integer_in(1, run_limits::data), text_of,
                   "as many replicas as the GPUs of the cluster hold");
  fields.defaulted("sequence_parallel", parallel.sequence_parallel, read_boolean, text_of_bool,
                   "off, as in Megatron-LM before 2022");
  fields.optional("expert", parallel.expert, integer_in(1, run_limits::data));
  fields.optional("expert_tensor", parallel.expert_tensor, integer_in(1, run_limits::tensor));
  const auto method = word_of(context_method_words);
  if (parallel.context > 1) {
    fields.defaulted("context_method", parallel.context_method, method, printed<ContextMethod>,
                     "keys and values go round the context group, as in Megatron-LM");
    fields.defaulted("zig_zag", parallel.zig_zag, read_boolean, text_of_bool, "slices from both ends of the sequence");
  } else {
    fields.optional("context_method", parallel.context_method, method);
    fields.optional("zig_zag", parallel.zig_zag, read_boolean);
  }
  fields.optional("ulysses", parallel.ulysses, integer_in(1, run_limits::context));
  fields.optional("placement", parallel.placement,
                  [&](const JsonNode& value) { return read_placement(value, reading); });
  fields.defaulted(
      "partition", partition, [&](const JsonNode& value) { return read_partition(value, reading); },
      [](const PartitionSpec& chosen) { return to_text(chosen.rule); }, "every stage gets the same number of blocks");
  fields.finish();
  return parallel;
}

RampUpSpec read_ramp_up(const JsonNode& node, Reading& reading) {
  RampUpSpec ramp;
  ObjectReader fields(node, "/batch/ramp_up", reading);
  fields.required("start", ramp.start, integer_in(1, run_limits::batch));
  fields.required("increment", ramp.increment, integer_in(1, run_limits::batch));
  fields.required("samples", ramp.samples, integer_in(1, run_limits::samples));
  fields.finish();
  return ramp;
}

/// The global batch as (micro-batch, accumulation, data ranks): what is not written follows from the others.
BatchSpec read_batch(const JsonNode& node, const JsonNode& scenario, ParallelSpec& parallel, Reading& reading) {
  BatchSpec batch;
  ObjectReader fields(node, "/batch", reading);
  std::int64_t accumulation = 0;
  const bool accumulates = fields.optional("accumulation", accumulation, integer_in(1, run_limits::batch));
  const bool global = fields.optional("global", batch.global, integer_in(1, run_limits::batch));
  const bool micro = fields.optional("micro", batch.micro, integer_in(1, run_limits::batch));
  fields.optional("lengths", batch.lengths, [&](const JsonNode& value) { return read_lengths(value, reading); });
  fields.optional("ramp_up", batch.ramp_up, [&](const JsonNode& value) { return read_ramp_up(value, reading); });
  fields.finish();
  if (!global && !accumulates) {
    fields.required("global", batch.global, integer_in(1, run_limits::batch));
    return batch;
  }
  if (!reading.problems.empty()) return batch;
  constexpr double most = run_limits::batch;
  const auto fails = [&](const char* key, const std::string& expected, std::int64_t nearest) {
    reading.attempt([&] { node.at(key).fail(expected, text_of(std::max<std::int64_t>(1, nearest))); });
  };
  if (!global) {  // micro-batch, accumulation and data ranks
    if (!micro) fields.note("micro", "1", "one sequence per micro-batch");
    const double product =
        static_cast<double>(batch.micro) * static_cast<double>(accumulation) * static_cast<double>(parallel.data);
    if (product > most) {
      fails("accumulation", "a global batch of at most " + text_of(run_limits::batch), 1);
      return batch;
    }
    batch.global = batch.micro * accumulation * parallel.data;
    fields.note("global", text_of(batch.global), "micro-batch x accumulation x data ranks");
    return batch;
  }
  if (!accumulates) {
    if (!micro) fields.note("micro", "1", "one sequence per micro-batch");
    return batch;
  }
  const auto parallel_node = scenario.find("parallel");
  const bool data = parallel_node && parallel_node->is(JsonKind::object) && parallel_node->find("data").has_value();
  if (micro && !data) {
    const std::int64_t share = batch.micro * accumulation;
    if (batch.global % share != 0) {
      fails("global", fmt::format("a multiple of micro x accumulation ({})", share), batch.global / share * share);
      return batch;
    }
    parallel.data = batch.global / share;
    fields.note("data", text_of(parallel.data), "global batch over micro-batch and accumulation");
    return batch;
  }
  const std::int64_t share = accumulation * parallel.data;
  if (!micro) {
    if (batch.global % share != 0) {
      fails("global", fmt::format("a multiple of accumulation x data ranks ({})", share), batch.global / share * share);
      return batch;
    }
    batch.micro = batch.global / share;
    fields.note("micro", text_of(batch.micro), "global batch over accumulation and data ranks");
  } else if (static_cast<double>(share) * static_cast<double>(batch.micro) != static_cast<double>(batch.global)) {
    fails(
        "accumulation",
        fmt::format("what global ({}), micro ({}) and data ranks ({}) leave", batch.global, batch.micro, parallel.data),
        batch.global / std::max<std::int64_t>(1, batch.micro * parallel.data));
  }
  return batch;
}

ScheduleSpec read_schedule(const JsonNode& node, Reading& reading) {
  ScheduleSpec schedule;
  if (node.is(JsonKind::string)) {
    schedule.name = read_nonempty_string(node);
    return schedule;
  }
  ObjectReader fields(node, "/schedule", reading);
  const bool named = fields.optional("name", schedule.name, read_nonempty_string);
  const bool from_file = fields.optional("csv", schedule.csv, [](const JsonNode& value) {
    const std::string path = beside(value, read_nonempty_string(value));
    if (!file_exists(path)) value.fail("a file that exists", "", fmt::format("no file \"{}\"", path));
    return path;
  });
  fields.optional("group_size", schedule.group_size, integer_in(1, run_limits::batch));
  fields.optional("memory_limit", schedule.memory_limit, number_in(0.001, 1e6));
  fields.optional("waves", schedule.waves, integer_in(1, run_limits::virtual_stages));
  fields.optional("run_ahead", schedule.run_ahead, integer_in(0, run_limits::batch));
  fields.optional("flushes", schedule.flushes, integer_in(1, run_limits::batch));
  fields.finish();
  if (named == from_file) node.fail(R"(either the key "name" or the key "csv")");
  if (from_file) schedule.name.clear();
  return schedule;
}

/// As the framework does it unless told otherwise. The framework is read here, for its report comes later.
void choose_overlap(const JsonNode& scenario, RunSpec& run) {
  const auto framework = scenario.find("framework");
  const Framework habits = framework ? word_of(framework_words)(*framework) : run.framework;
  run.overlap.gradient_reduce = usually_overlaps_reduce(habits, run.parallel);
  run.overlap.parameter_gather = usually_overlaps_gather(habits, run.parallel, run.zero_stage);
  const auto overlap = scenario.find("overlap");
  const bool named = overlap && overlap->is(JsonKind::object);
  run.left_to_layout.gradient_reduce = !named || !overlap->find("gradient_reduce");
  run.left_to_layout.parameter_gather = !named || !overlap->find("parameter_gather");
}

OverlapSpec read_overlap(const JsonNode& node, OverlapSpec overlap, Reading& reading) {
  ObjectReader fields(node, "/overlap", reading);
  constexpr const char* reason = "what a framework does unless told otherwise";
  fields.defaulted("gradient_reduce", overlap.gradient_reduce, read_boolean, text_of_bool, reason);
  fields.defaulted("parameter_gather", overlap.parameter_gather, read_boolean, text_of_bool, reason);
  fields.defaulted("pipeline", overlap.pipeline, read_boolean, text_of_bool, reason);
  fields.defaulted("tensor", overlap.tensor, read_boolean, text_of_bool, reason);
  fields.optional("context", overlap.context, read_boolean);
  fields.optional("expert", overlap.expert, read_boolean);
  fields.optional("delay_weight_grad", overlap.delay_weight_grad, read_boolean);
  fields.optional("slowdown", overlap.slowdown, number_in(0, 10));
  fields.finish();
  return overlap;
}

void read_collection(const JsonNode& node, HostSpec& host, Reading& reading) {
  ObjectReader fields(node, "/host/garbage_collection", reading);
  fields.required("pause", host.collection_pause_s,
                  [](const JsonNode& value) { return read_seconds(value, {0}, {1e3}).value; });
  fields.optional("every_steps", host.collection_every, number_in(0.001, 1e9));
  fields.optional("together", host.collects_together, read_boolean);
  fields.finish();
}

HostSpec read_host(const JsonNode& node, Reading& reading) {
  HostSpec host;
  ObjectReader fields(node, "/host", reading);
  fields.optional("attention_waits", host.attention_waits, read_boolean);
  bool collects = false;
  fields.optional("garbage_collection", collects, [&](const JsonNode& value) {
    read_collection(value, host, reading);
    return true;
  });
  fields.finish();
  return host;
}

Precision usual_precision(const GpuSpec& gpu) {
  if (gpu.peak.contains(Dtype::bf16)) return Precision::bf16_mixed;
  if (gpu.peak.contains(Dtype::fp16)) return Precision::fp16_mixed;
  return Precision::fp32;
}

void read_kernels(ObjectReader& scenario, const ClusterSpec& cluster, RunSpec& run) {
  run.precision = usual_precision(cluster.gpu);
  scenario.defaulted("precision", run.precision, word_of(precision_words), printed<Precision>,
                     "mixed precision in the best 16-bit format that the GPU has");
  run.fp32_gradients = usually_fp32_gradients(run.precision);
  scenario.defaulted("fp32_gradients", run.fp32_gradients, read_boolean, text_of_bool,
                     "Megatron-LM's choice: bf16 and fp8 runs add up gradients in fp32, fp16 runs in fp16");
  scenario.defaulted("recompute", run.recompute, word_of(recompute_words), printed<Recompute>,
                     "activations are kept; if memory does not suffice, ask for \"selective\" or \"full\"");
  run.attention_kernel = usual_attention_kernel(cluster.gpu, run.precision);
  scenario.defaulted("attention_kernel", run.attention_kernel, word_of(attention_kernel_words),
                     printed<AttentionKernel>, "the usual kernel of this GPU generation");
  scenario.defaulted("fused_kernels", run.fused_kernels, read_boolean, text_of_bool,
                     "bias, activation, dropout and residual in one kernel");
  scenario.defaulted("gradient_accumulation_fusion", run.gradient_accumulation_fusion, read_boolean, text_of_bool,
                     "weight-gradient GEMMs add into the gradient buffer");
}

/// Once the dispatcher is known.
void choose_slowdown(ObjectReader& scenario, const GpuSpec& gpu, RunSpec& run) {
  const auto overlap = scenario.object().find("overlap");
  run.left_to_layout.slowdown = !overlap || !overlap->find("slowdown");
  if (!run.left_to_layout.slowdown) return;
  run.overlap.slowdown = usual_slowdown(run, gpu);
  if (run.overlap.slowdown == 0) return;
  scenario.note("overlap/slowdown", fmt::format("{:.3g}", run.overlap.slowdown),
                "multiprocessors that the exchange of experts takes from kernels");
}

void read_communication(ObjectReader& scenario, const GpuSpec& gpu, RunSpec& run) {
  scenario.defaulted("zero_stage", run.zero_stage, integer_in(0, 3), text_of,
                     "every replica holds all optimizer states");
  choose_overlap(scenario.object(), run);
  const OverlapSpec usual = run.overlap;
  const bool overlaps = scenario.optional(
      "overlap", run.overlap, [&](const JsonNode& node) { return read_overlap(node, usual, scenario.reading()); });
  if (!overlaps && usual.gradient_reduce) {
    scenario.note("overlap",
                  usual.parameter_gather ? "gradients, parameters, pipeline sends" : "gradients, pipeline sends",
                  "what the framework does unless told otherwise");
  } else if (!overlaps) {
    scenario.note("overlap", "pipeline sends only", "gradients and parameters travel while nothing else runs");
  }
  scenario.optional("cuda_graphs", run.cuda_graphs, read_boolean);
  scenario.optional("host", run.host, [&](const JsonNode& node) { return read_host(node, scenario.reading()); });
  scenario.optional("data_loading", run.data_loading_s,
                    [](const JsonNode& value) { return read_seconds(value, {0}, {1e6}).value; });
  scenario.defaulted("scatter_gather", run.scatter_gather, read_boolean, text_of_bool,
                     "a pipeline send is split over the tensor group");
  scenario.defaulted("receive_placement", run.receive_placement, word_of(receive_placement_words),
                     printed<ReceivePlacement>, "receives are posted in the order of the sends");
  Bytes bucket{run.gradient_bucket_bytes};
  scenario.defaulted(
      "gradient_bucket", bucket, [](const JsonNode& node) { return read_bytes(node, {1}, {1e12}); },
      [](Bytes amount) { return to_text(amount); }, "40 million gradients of four bytes, Megatron-LM's bucket");
  run.gradient_bucket_bytes = bucket.value;
  scenario.optional("gradient_compression", run.gradient_compression, word_of(gradient_compression_words));
  scenario.optional("experts", run.experts,
                    [&](const JsonNode& node) { return read_experts(node, scenario.reading()); });
  choose_slowdown(scenario, gpu, run);
}

}  // namespace

RunSpec read_run(ObjectReader& scenario, const ModelSpec& model, const ClusterSpec& cluster) {
  RunSpec run;
  Reading& reading = scenario.reading();
  scenario.required("parallel", run.parallel,
                    [&](const JsonNode& node) { return read_parallel(node, cluster, run.partition, reading); });
  scenario.required("batch", run.batch,
                    [&](const JsonNode& node) { return read_batch(node, scenario.object(), run.parallel, reading); });
  const bool plain = !model.plain_layers.empty();
  run.sequence_length = plain ? 1 : model.sequence_length;
  scenario.defaulted("sequence_length", run.sequence_length, integer_in(1, model_limits::sequence), text_of,
                     plain ? "a sample of plain layers counts as one token" : "the model's");
  run.schedule.name = run.parallel.virtual_stages > 1 ? "interleaved-1f1b" : "1f1b";
  scenario.defaulted(
      "schedule", run.schedule, [&](const JsonNode& node) { return read_schedule(node, reading); },
      [](const ScheduleSpec& chosen) { return chosen.name; }, "the usual schedule for this number of virtual stages");
  read_kernels(scenario, cluster, run);
  read_communication(scenario, cluster.gpu, run);
  read_memory(scenario, model, run);
  scenario.optional("training", run.training, [&](const JsonNode& node) { return read_training(node, reading); });
  scenario.defaulted("steps", run.steps, integer_in(1, run_limits::steps), text_of, "one step");
  return run;
}

}  // namespace stagecraft
