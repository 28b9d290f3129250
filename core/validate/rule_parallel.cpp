// Degrees, batch, the split of blocks over stages, and the schedule.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

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

OrderedJson partition_of(Draft& draft, std::int64_t stages) {
  constexpr std::int64_t most = 4096;
  const std::int64_t blocks = stated(draft.record.model.layers, "model.layers");
  if (stages > blocks + 2 || stages > most) {
    throw Unmapped(fmt::format("{} stages cannot share {} blocks", stages, blocks));
  }
  if (const auto last = draft.record.layers_last_stage; last && stages > 1) {
    if (*last > blocks) throw Unmapped("the last stage holds more blocks than the model");
    return with_last_stage(blocks, stages, *last);
  }
  if (contains(draft.record.id, "redis")) {
    throw Unmapped("blocks are redistributed over the stages, but how many each holds is not stated");
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

OrderedJson schedule_of(Draft& draft, std::int64_t pipeline, std::int64_t virtual_stages) {
  const std::string& text = draft.record.parallel.schedule;
  const auto searched = [&](double limit) {
    return OrderedJson{{"name", "zb-auto"}, {"memory_limit", limit * static_cast<double>(pipeline)}};
  };
  if (contains(text, "zb-v") || contains(text, "zbv")) return "zbv";
  if (contains(text, "zb-h1")) return "zb-h1";
  if (contains(text, "zb-h2")) return "zb-h2";
  if (contains(text, "zb-1p")) return searched(1);
  if (contains(text, "zb-2p")) return searched(2);
  if (contains(text, "gpipe")) return "gpipe";
  const bool known = text.empty() || contains(text, "1f1b") || contains(text, "none") || contains(text, "interleaved");
  if (!known) throw Unmapped(fmt::format("the schedule \"{}\" is not known", text));
  const char* name = virtual_stages > 1 ? "interleaved-1f1b" : "1f1b";
  if (text.empty() && pipeline > 1) infer(draft, "/schedule", name, "not stated");
  return name;
}

}  // namespace

void map_parallel(Draft& draft) {
  const Record& record = draft.record;
  const RecordParallel& stated_degrees = record.parallel;
  const std::int64_t tensor = or_one(draft, {"/parallel/tensor", stated_degrees.tensor});
  const std::int64_t pipeline = or_one(draft, {"/parallel/pipeline", stated_degrees.pipeline});
  const std::int64_t context = or_one(draft, {"/parallel/context", stated_degrees.context});
  std::int64_t chunks = 1;
  if (pipeline > 1) chunks = or_one(draft, {"/parallel/virtual_stages", stated_degrees.virtual_stages});
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
  draft.scenario["parallel"] = {{"tensor", tensor},
                                {"pipeline", pipeline},
                                {"data", data},
                                {"context", context},
                                {"virtual_stages", chunks},
                                {"sequence_parallel", sequence_parallel && tensor > 1},
                                {"partition", partition_of(draft, pipeline * chunks)}};
  const std::int64_t micro = or_one(draft, {"/batch/micro", record.micro_batch});
  draft.scenario["batch"] = {{"global", stated(record.global_batch, "batch.global")}, {"micro", micro}};
  draft.scenario["sequence_length"] = stated(record.model.sequence, "model.seq");
  draft.scenario["schedule"] = schedule_of(draft, pipeline, chunks);
}

}  // namespace stagecraft
