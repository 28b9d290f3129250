#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/json_reader.hpp"
#include "validate/record.hpp"

namespace stagecraft {
namespace {

constexpr std::int64_t largest_count = std::int64_t{1} << 40;
constexpr double largest_number = 1e18;

/// Optional members of an object. Null counts as absent; anything of another type is a problem of the record.
class Fields {
 public:
  Fields(const std::optional<JsonNode>& object, Record& record) : record_(record) {
    if (!object || object->is(JsonKind::null)) return;
    if (object->is(JsonKind::object)) {
      object_ = object;
    } else {
      complain(*object, "an object");
    }
  }

  std::optional<JsonNode> find(const char* key) const {
    if (!object_) return std::nullopt;
    const std::optional<JsonNode> found = object_->find(key);
    return found && !found->is(JsonKind::null) ? found : std::nullopt;
  }

  std::string text(const char* key) const {
    const auto node = find(key);
    if (!node) return {};
    if (!node->is(JsonKind::string)) return complain(*node, "a text"), std::string();
    return std::string(node->raw_string());
  }

  std::optional<bool> flag(const char* key) const {
    const auto node = find(key);
    if (!node) return std::nullopt;
    if (!node->is(JsonKind::boolean)) return complain(*node, "true or false"), std::nullopt;
    return node->raw_boolean();
  }

  std::optional<double> number(const char* key) const {
    const auto node = find(key);
    if (!node) return std::nullopt;
    return read(*node);
  }

  /// Positive, unless `least` says otherwise.
  std::optional<std::int64_t> count(const char* key, std::int64_t least = 1) const {
    const auto node = find(key);
    if (!node) return std::nullopt;
    const double value = node->is_number() ? node->raw_number() : std::nan("");
    const bool whole = value == std::floor(value) && value >= static_cast<double>(least) &&
                       value <= static_cast<double>(largest_count);
    if (!whole) return complain(*node, fmt::format("a whole number from {} on", least)), std::nullopt;
    return static_cast<std::int64_t>(value);
  }

  std::vector<double> numbers(const char* key) const {
    std::vector<double> values;
    const auto node = find(key);
    if (!node) return values;
    if (!node->is(JsonKind::array)) return complain(*node, "a list of numbers"), values;
    for (const JsonNode& element : node->elements()) {
      if (const auto value = read(element)) values.push_back(*value);
    }
    return values;
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> values;
    const auto node = find(key);
    if (!node) return values;
    if (!node->is(JsonKind::array)) return complain(*node, "a list of texts"), values;
    for (const JsonNode& element : node->elements()) {
      if (element.is(JsonKind::string)) {
        values.emplace_back(element.raw_string());
      } else {
        complain(element, "a text");
      }
    }
    return values;
  }

 private:
  std::optional<double> read(const JsonNode& node) const {
    const double value = node.is_number() ? node.raw_number() : std::nan("");
    if (!(value >= 0 && value <= largest_number)) return complain(node, "a number from 0 to 1e18"), std::nullopt;
    return value;
  }

  void complain(const JsonNode& node, const std::string& expected) const {
    constexpr std::size_t most = 8;
    if (record_.problems.size() >= most) return;
    record_.problems.push_back(fmt::format("{}: got {}, expected {}", node.pointer(), node.dump(40), expected));
  }

  std::optional<JsonNode> object_;
  Record& record_;
};

void read_model(const Fields& fields, RecordModel& model) {
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
  model.experts = fields.find("moe").has_value();
}

void read_parallel(const Fields& fields, RecordParallel& parallel) {
  parallel.tensor = fields.count("tp");
  parallel.pipeline = fields.count("pp");
  parallel.virtual_stages = fields.count("vpp");
  parallel.data = fields.count("dp");
  parallel.context = fields.count("cp");
  parallel.expert = fields.count("ep");
  parallel.expert_tensor = fields.count("etp");
  parallel.zero_stage = fields.count("zero_stage", 0);
  parallel.sequence_parallel = fields.flag("sp");
  parallel.fsdp = fields.text("fsdp");
  parallel.schedule = fields.text("schedule");
}

void read_memory(const Fields& fields, RecordMeasured& measured) {
  measured.memory_kind = fields.text("memory_kind");
  measured.memory_scope = fields.text("memory_scope");
  const std::string unit = fields.text("memory_unit");
  if (const auto amount = fields.number("memory_gb")) {
    const bool binary = unit.find("GiB") != std::string::npos;
    measured.memory_bytes = *amount * (binary ? 1024.0 * 1024.0 * 1024.0 : 1e9);
  }
}

void read_measured(const Fields& fields, const Fields& derived, Record& record) {
  RecordMeasured& measured = record.measured;
  measured.step_time_s = fields.number("step_time_s");
  if (!measured.step_time_s) {
    measured.step_time_s = derived.number("step_time_s");
    measured.step_time_derived = measured.step_time_s.has_value();
  }
  read_memory(fields, measured);
  measured.oom = fields.flag("oom");
  measured.bubble = fields.number("bubble");
  const Fields profile(fields.find("profile_ms"), record);
  const auto forward = profile.number("T_F"), input = profile.number("T_B"), weight = profile.number("T_W");
  if (forward && input && weight) {
    constexpr double ms = 1e-3;
    measured.profile = {*forward * ms, *input * ms, *weight * ms, profile.number("T_comm").value_or(0) * ms};
  }
  for (const double us : fields.numbers("stage_fwd_us")) measured.stage_forward_s.push_back(us * 1e-6);
  for (const double us : fields.numbers("stage_bwd_us")) measured.stage_backward_s.push_back(us * 1e-6);
}

Record read_record(const JsonNode& node, std::size_t index) {
  Record record;
  const Fields fields(node, record);
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
  record.interconnect = fields.text("interconnect");
  record.gpus = fields.count("gpus");
  record.nodes = fields.count("nodes");
  record.layers_last_stage = fields.count("layers_last_stage", 0);
  record.flash_attention = fields.flag("flash_attention");
  record.uses = fields.texts("use");
  record.inferred = fields.texts("inferred");
  record.cite = Fields(fields.find("source"), record).text("cite");
  const Fields gpu(fields.find("gpu"), record);
  record.gpu = gpu.text("type");
  record.gpu_memory_gb = gpu.number("memory_gb");
  const Fields batch(fields.find("batch"), record);
  record.micro_batch = batch.count("micro");
  record.global_batch = batch.count("global");
  read_model(Fields(fields.find("model"), record), record.model);
  read_parallel(Fields(fields.find("parallel"), record), record.parallel);
  read_measured(Fields(fields.find("measured"), record), Fields(fields.find("derived"), record), record);
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
