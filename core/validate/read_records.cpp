#include <fmt/format.h>

#include <set>

#include "base/json_reader.hpp"
#include "validate/record_fields.hpp"

namespace stagecraft {
namespace {

void read_model(const RecordFields& fields, RecordModel& model) {
  model.name = fields.text("name");
  model.layers = fields.count("layers");
  model.hidden = fields.count("hidden");
  model.ffn = fields.count("ffn");
  model.heads = fields.count("heads");
  model.kv_heads = fields.count("kv_heads");
  model.head_dim = fields.count("head_dim");
  model.vocabulary = fields.count("vocab");
  model.sequence = fields.count("seq");
  model.gated = fields.flag("gated");
  model.tied_embeddings = fields.flag("tied_embeddings");
  model.linear_bias = fields.flag("linear_bias");
  model.activation = fields.text("activation");
  model.attention = fields.text("attention");
  model.position = fields.text("position");
  model.normalization = fields.text("normalization");
  if (!fields.find("moe")) return;
  const RecordFields moe = fields.object("moe");
  model.experts = RecordExperts{moe.count("experts"),         moe.count("topk"),
                                moe.count("expert_ffn"),      moe.count("shared_experts_ffn", 0),
                                moe.count("dense_layers", 0), moe.count("shared_experts", 0),
                                moe.number("capacity_factor")};
}

void read_arguments(const RecordFields& fields, RecordArguments& arguments) {
  arguments.transformer = fields.text("transformer-impl");
  arguments.attention = fields.text("attention-backend");
  const auto given = [&](const char* name) { return fields.flag(name).value_or(false); };
  arguments.no_accumulation_fusion = given("no-gradient-accumulation-fusion");
  arguments.deterministic = given("deterministic-mode");
  arguments.late_embedding_gradients = given("defer-embedding-wgrad-compute");
  arguments.fused_cross_entropy = given("cross-entropy-loss-fusion");
  arguments.first_stage_layers = fields.count("decoder-first-pipeline-num-layers");
  arguments.last_stage_layers = fields.count("decoder-last-pipeline-num-layers");
}

void read_parallel(const RecordFields& fields, RecordParallel& parallel) {
  parallel.tensor = fields.count("tp");
  parallel.pipeline = fields.count("pp");
  parallel.virtual_stages = fields.count("vpp");
  parallel.data = fields.count("dp");
  parallel.context = fields.count("cp");
  parallel.expert = fields.count("ep");
  parallel.expert_tensor = fields.count("etp");
  parallel.zero_stage = fields.count("zero_stage", 0);
  parallel.zero_group = fields.count("zero1_group");
  parallel.sequence_parallel = fields.flag("sp");
  parallel.fsdp = fields.text("fsdp");
  parallel.schedule = fields.text("schedule");
}

Record read_record(const JsonNode& node, std::size_t index) {
  Record record;
  const RecordFields fields(node, record);
  record.id = fields.text("id");
  if (record.id.empty()) {
    record.id = fmt::format("#{}", index);
    record.problems.push_back("the record has no id");
  }
  record.group = fields.text("group");
  if (record.group.empty()) record.group = "(no group)";
  record.date = fields.text("date");
  record.kind = fields.text("kind");
  record.precision = fields.text("precision");
  record.recompute = fields.text("recompute");
  record.offload = fields.text("offload");
  record.kernel = fields.text("kernel");
  record.overlap = fields.text("overlap");
  record.notes = fields.text("notes");
  record.calibration = fields.text("calibration");
  record.interconnect = fields.text("interconnect");
  record.gpus = fields.count("gpus");
  record.nodes = fields.count("nodes");
  record.layers_last_stage = fields.count("layers_last_stage", 0);
  record.flash_attention = fields.flag("flash_attention");
  record.uses = fields.texts("use");
  record.inferred = fields.texts("inferred");
  record.cite = fields.object("source").text("cite");
  const RecordFields gpu = fields.object("gpu");
  record.gpu = gpu.text("type");
  record.gpu_memory_gb = gpu.number("memory_gb");
  const RecordFields batch = fields.object("batch");
  record.micro_batch = batch.count("micro");
  record.global_batch = batch.count("global");
  read_model(fields.object("model"), record.model);
  read_parallel(fields.object("parallel"), record.parallel);
  read_arguments(fields.object("megatron_args"), record.arguments);
  read_measured(fields.object("measured"), fields.object("derived"), fields.object("parallel"), record.measured);
  return record;
}

}  // namespace

std::vector<Record> read_records(const std::string& path) {
  const JsonDocument document = JsonDocument::from_file(path);
  if (!document.root().is(JsonKind::array)) document.root().fail("a list of records");
  std::vector<Record> records;
  std::set<std::string> known;
  for (const JsonNode& node : document.root().elements()) {
    records.push_back(read_record(node, records.size()));
    Record& record = records.back();
    if (!known.insert(record.id).second) record.problems.push_back("another record has the same id");
  }
  return records;
}

}  // namespace stagecraft
