// Degrees, batch, the split of blocks over stages, and the schedule.

#include <fmt/format.h>

#include <algorithm>

#include "validate/rules.hpp"

namespace stagecraft {
namespace {

struct Degree {
  const char* pointer;
  const std::optional<std::int64_t>& value;
};

std::int64_t or_one(Draft& draft, const Degree& degree) {
  if (degree.value) return *degree.value;
  infer(draft, degree.pointer, "1", "not stated");
  return 1;
}

/// What was tuned before the run was measured, or 1 while that is not known.
std::int64_t tuned(Draft& draft, const Degree& degree, const std::optional<std::int64_t>& chosen) {
  if (degree.value || !chosen) return or_one(draft, degree);
  infer(draft, degree.pointer, std::to_string(*chosen), "not stated: the fastest that fits");
  return *chosen;
}

/// First and last stage as the arguments say, the others alike.
Partition with_both_ends(std::int64_t blocks, std::int64_t stages, std::int64_t first, std::int64_t last) {
  const std::int64_t left = blocks - first - last;
  if (stages < 3 || left < 0 || left % (stages - 2) != 0) {
    throw Unmapped(
        fmt::format("{} blocks without {} and {} do not divide by {} stages", blocks, first, last, stages - 2));
  }
  std::vector<std::int64_t> list(static_cast<std::size_t>(stages), left / (stages - 2));
  list.front() = first;
  list.back() = last;
  return list;
}

/// Near-even: the remainder goes to the stages behind the first, which holds the embedding.
std::vector<std::int64_t> near_even(std::int64_t blocks, std::int64_t stages) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(stages), blocks / stages);
  for (std::int64_t i = 0; i < blocks % stages; ++i) ++list[static_cast<std::size_t>((i + 1) % stages)];
  return list;
}

std::vector<std::int64_t> with_last_stage(std::int64_t blocks, std::int64_t stages, std::int64_t last) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(stages), 0);
  const std::int64_t others = stages - 1, left = blocks - last;
  for (std::int64_t i = 0; i < others; ++i) {
    // The remainder goes to the stages next to the last.
    list[static_cast<std::size_t>(i)] = left / others + (i >= others - left % others ? 1 : 0);
  }
  list.back() = last;
  return list;
}

/// nanotron (src/nanotron/models/base.py, build_model): each block goes to the stage at hand, and the next stage begins
/// once the blocks so far weigh more than its share. The head counts, the embedding does not.
std::vector<std::int64_t> by_weights(const RecordModel& model, std::int64_t blocks, std::int64_t stages) {
  const double hidden = static_cast<double>(stated(model.hidden, "model.hidden"));
  const double block = hidden * (4 * hidden + 3 * static_cast<double>(stated(model.ffn, "model.ffn")));
  const double head = hidden * static_cast<double>(stated(model.vocabulary, "model.vocab"));
  const double share = (static_cast<double>(blocks) * block + head) / static_cast<double>(stages);
  std::vector<std::int64_t> list(static_cast<std::size_t>(stages), 0);
  std::size_t stage = 0;
  for (std::int64_t i = 1; i <= blocks; ++i) {
    ++list[stage];
    const bool full = static_cast<double>(i) * block > share * static_cast<double>(stage + 1);
    if (full && stage + 1 < list.size()) ++stage;
  }
  return list;
}

/// NVIDIA's layouts of DeepSeek-V3 (NVIDIA-NeMo/Megatron-Bridge, recipes/deepseek/deepseek_v3.py and
/// scripts/performance/configs/deepseek): embedding and head count as blocks, and the last stage, which has the head
/// twice with multi-token prediction, takes what the others leave; where they leave nothing, the first one gives.
std::vector<std::int64_t> with_light_end(std::int64_t blocks, std::int64_t modules, std::int64_t stages) {
  const std::int64_t share = (blocks + 2 + stages) / stages, rest = blocks - share * (stages - 1);
  std::vector<std::int64_t> list(static_cast<std::size_t>(stages), share);
  list.back() = std::max(std::int64_t{0}, rest) + modules;
  list.front() += std::min(std::int64_t{0}, rest);
  if (list.front() < 0) throw Unmapped(fmt::format("{} stages cannot share {} blocks", stages, blocks));
  return list;
}

Partition partition_of(Draft& draft, std::int64_t stages) {
  constexpr std::int64_t most = 4096;
  const std::int64_t blocks = stated(draft.record.model.layers, "model.layers");
  if (stages > blocks + 2 || stages > most) {
    throw Unmapped(fmt::format("{} stages cannot share {} blocks", stages, blocks));
  }
  const RecordArguments& arguments = draft.record.arguments;
  if (arguments.first_stage_layers && arguments.last_stage_layers) {
    return with_both_ends(blocks, stages, *arguments.first_stage_layers, *arguments.last_stage_layers);
  }
  if (const auto last = draft.record.layers_last_stage; last && stages > 1) {
    if (*last > blocks) throw Unmapped("the last stage holds more blocks than the model");
    return with_last_stage(blocks, stages, *last);
  }
  if (contains(draft.record.id, "redis")) {
    throw Unmapped("blocks are redistributed over the stages, but how many each holds is not stated");
  }
  if (draft.software.cuts_by_weights && stages > 1) {
    infer(draft, "/parallel/partition", "each stage closes once it holds more than its share of the weights",
          draft.software.why);
    return by_weights(draft.record.model, blocks, stages);
  }
  if (is_deepseek_v3_of_nvidia(draft.record) && stages > 1) {
    infer(draft, "/parallel/partition", "a light last stage", "NVIDIA's recipe of DeepSeek-V3");
    return with_light_end(blocks, prediction_modules_of(draft.record), stages);
  }
  if (blocks % stages == 0) return "uniform";
  const std::string pointer = "/parallel/partition";
  if ((blocks + 2) % stages == 0) {
    std::vector<std::int64_t> list(static_cast<std::size_t>(stages), (blocks + 2) / stages);
    --list.front();
    --list.back();
    infer(draft, pointer, "one block less on the first and the last stage",
          "embedding and head count as blocks: the blocks divide only so");
    return list;
  }
  infer(draft, pointer, "near-even", fmt::format("{} blocks do not divide by {} stages", blocks, stages));
  return near_even(blocks, stages);
}

/// A batch that the ranks do not divide is rounded down to one that they do.
std::int64_t global_batch_of(Draft& draft, std::int64_t share) {
  const std::int64_t global = stated(draft.record.global_batch, "batch.global");
  if (global % share == 0) return global;
  const std::int64_t rounded = std::max<std::int64_t>(1, global / share) * share;
  infer(draft, "/batch/global", std::to_string(rounded),
        fmt::format("{} sequences do not divide by micro-batch times data {}", global, share));
  return rounded;
}

void set_schedule(Draft& draft, std::int64_t pipeline, std::int64_t virtual_stages) {
  const std::string& text = draft.record.parallel.schedule;
  const auto searched = [&](double limit) {
    set(draft, "/schedule/name", "zb-auto");
    set(draft, "/schedule/memory_limit", limit * static_cast<double>(pipeline));
  };
  if (contains(text, "zb-v") || contains(text, "zbv")) return set(draft, "/schedule", "zbv");
  if (contains(text, "zb-h1")) return set(draft, "/schedule", "zb-h1");
  if (contains(text, "zb-h2")) return set(draft, "/schedule", "zb-h2");
  if (contains(text, "zb-1p")) return searched(1);
  if (contains(text, "zb-2p")) return searched(2);
  if (contains(text, "gpipe")) return set(draft, "/schedule", "gpipe");
  const bool known = text.empty() || contains(text, "1f1b") || contains(text, "none") || contains(text, "interleaved");
  if (!known) throw Unmapped(fmt::format("the schedule \"{}\" is not known", text));
  const char* name = virtual_stages > 1 ? "interleaved-1f1b" : "1f1b";
  if (text.empty() && pipeline > 1) infer(draft, "/schedule", name, "not stated");
  const std::int64_t run_ahead = draft.software.run_ahead;
  if (std::string_view(name) == "1f1b" && pipeline > 1 && run_ahead > 0) {
    set(draft, "/schedule/name", name);
    set(draft, "/schedule/run_ahead", run_ahead);
    infer(draft, "/schedule/run_ahead", std::to_string(run_ahead), draft.software.why);
    return;
  }
  set(draft, "/schedule", name);
}

}  // namespace

void map_parallel(Draft& draft) {
  const Record& record = draft.record;
  const RecordParallel& stated_degrees = record.parallel;
  const std::int64_t tensor = or_one(draft, {"/parallel/tensor", stated_degrees.tensor});
  const std::int64_t pipeline = or_one(draft, {"/parallel/pipeline", stated_degrees.pipeline});
  const std::int64_t context = or_one(draft, {"/parallel/context", stated_degrees.context});
  std::int64_t chunks = 1;
  if (pipeline > 1) {
    chunks = tuned(draft, {"/parallel/virtual_stages", stated_degrees.virtual_stages}, draft.tuned.virtual_stages);
    // Megatron-LM overlaps messages of a pipeline only where stages are interleaved (arguments.py,
    // overlap_p2p_communication), so software that does so interleaves unless the record says otherwise.
    const std::string& schedule = stated_degrees.schedule;
    draft.mapping.virtual_stages_are_open = !stated_degrees.virtual_stages && draft.software.overlaps_pipeline &&
                                            (schedule.empty() || contains(schedule, "interleaved"));
  }
  const std::int64_t gpus = stated(record.gpus, "gpus");
  constexpr std::int64_t most = 1 << 20;
  if (tensor > most || pipeline > most || context > most || chunks > most) throw Unmapped("a degree beyond 2^20");
  const std::int64_t others = tensor * context % (std::int64_t{1} << 41) * pipeline;
  if (others <= 0 || gpus % others != 0) {
    throw Unmapped(
        fmt::format("tensor {} x context {} x pipeline {} does not divide {} GPUs", tensor, context, pipeline, gpus));
  }
  const std::int64_t data = stated_degrees.data.value_or(gpus / others);
  if (!stated_degrees.data) infer(draft, "/parallel/data", std::to_string(data), "GPUs over the other degrees");
  if (data != gpus / others) {
    throw Unmapped(fmt::format("tensor {} x context {} x pipeline {} x data {} are not {} GPUs", tensor, context,
                               pipeline, data, gpus));
  }
  bool sequence_parallel = stated_degrees.sequence_parallel.value_or(false);
  if (!stated_degrees.sequence_parallel && tensor > 1) {
    sequence_parallel = draft.software.overlaps_tensor;
    infer(draft, "/parallel/sequence_parallel", sequence_parallel ? "true" : "false", draft.software.why);
  }
  if (draft.software.sequence_parallel && tensor > 1 && !sequence_parallel) {
    sequence_parallel = true;
    infer(draft, "/parallel/sequence_parallel", "true", draft.software.why);
  }
  if (draft.software.before_sequence_parallel && is_guessed(record, "parallel.sp") && sequence_parallel) {
    sequence_parallel = false;
    infer(draft, "/parallel/sequence_parallel", "false", draft.software.why);
  }
  set(draft, "/parallel/tensor", tensor);
  set(draft, "/parallel/pipeline", pipeline);
  set(draft, "/parallel/data", data);
  set(draft, "/parallel/context", context);
  set(draft, "/parallel/virtual_stages", chunks);
  set(draft, "/parallel/sequence_parallel", sequence_parallel && tensor > 1);
  set(draft, "/parallel/partition", partition_of(draft, pipeline * chunks));
  const std::int64_t micro = tuned(draft, {"/batch/micro", record.micro_batch}, draft.tuned.micro);
  draft.mapping.micro_is_open = !record.micro_batch;
  set(draft, "/batch/global", global_batch_of(draft, micro * data));
  set(draft, "/batch/micro", micro);
  set(draft, "/sequence_length", stated(record.model.sequence, "model.seq"));
  set_schedule(draft, pipeline, chunks);
}

}  // namespace stagecraft
