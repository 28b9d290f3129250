#include "gui/models/form_fields.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "spec/scenario.hpp"

namespace stagecraft::gui {
namespace {

using Json = nlohmann::ordered_json;

/// What the schema has no word for: the unit in which people count a field, and abbreviations that a title keeps.
struct Wording {
  std::string_view pointer, title, unit;
};
constexpr std::array wordings{
    Wording{"/model/extends", "Model", ""},
    Wording{"/cluster/extends", "Cluster", ""},
    Wording{"/cluster/gpu", "GPU", ""},
    Wording{"/cluster/nodes", "Nodes", "nodes"},
    Wording{"/parallel/tensor", "Tensor (TP)", "ranks"},
    Wording{"/parallel/pipeline", "Pipeline (PP)", "ranks"},
    Wording{"/parallel/data", "Data (DP)", "replicas"},
    Wording{"/parallel/context", "Context (CP)", "ranks"},
    Wording{"/parallel/expert", "Expert (EP)", "ranks"},
    Wording{"/parallel/virtual_stages", "Virtual stages", "per rank"},
    Wording{"/batch/global", "Global batch", "sequences"},
    Wording{"/batch/micro", "Micro-batch", "sequences"},
    Wording{"/sequence_length", "Sequence length", "tokens"},
    Wording{"/schedule/name", "Schedule", ""},
    Wording{"/schedule/csv", "From a CSV file", ""},
    Wording{"/schedule/group_size", "Group size", "micro-batches"},
    Wording{"/schedule/memory_limit", "Memory limit", "activations"},
    Wording{"/schedule/waves", "Waves", ""},
    Wording{"/schedule/run_ahead", "Run ahead", "micro-batches"},
    Wording{"/schedule/flushes", "Flushes", "per step"},
    Wording{"/zero_stage", "ZeRO stage", ""},
    Wording{"/model/hidden", "Hidden size", ""},
    Wording{"/model/vocabulary", "Vocabulary", "words"},
    Wording{"/model/blocks", "Blocks", ""},
    Wording{"/model/sequence_length", "Context length", "tokens"},
    Wording{"/model/attention/kv_heads", "Key-value heads", ""},
    Wording{"/model/mlp/ffn_hidden", "MLP width", ""},
    Wording{"/steps", "Steps in a row", "steps"},
};

const Wording* wording_of(std::string_view pointer) {
  const auto found =
      std::find_if(wordings.begin(), wordings.end(), [&](const Wording& w) { return w.pointer == pointer; });
  return found == wordings.end() ? nullptr : &*found;
}

std::string text_of(const Json& value) {
  if (!value.is_array()) return value.is_string() ? value.get<std::string>() : value.dump();
  std::string text;
  for (const Json& element : value) text += (text.empty() ? "" : ", ") + text_of(element);
  return text;
}

/// A list of words or numbers, which can be typed in a line.
bool is_plain_list(const Json& schema) {
  return schema.contains("items") && !schema.at("items").contains("properties") &&
         schema.at("items").value("type", "") != "object";
}

class Walker {
 public:
  explicit Walker(const KnownNames& names) : names_(names) {}

  void group(std::string name) { group_ = std::move(name); }

  void add(const Json& schema, const std::string& pointer, const std::vector<std::string>& words = {}) {
    FormField field;
    field.pointer = pointer;
    field.group = group_;
    field.title = title_of(pointer.substr(pointer.rfind('/') + 1));
    if (const Wording* wording = wording_of(pointer)) {
      field.title = wording->title;
      field.unit = wording->unit;
    }
    field.description = schema.value("description", "");
    if (schema.contains("default")) field.default_text = text_of(schema.at("default"));
    field.choices = words;
    set_kind(schema, field);
    fields.push_back(std::move(field));
  }

  /// Every scalar of an object, in the order of the schema.
  void add_members(const Json& schema, const std::string& pointer) {
    for (const auto& [key, member] : schema.at("properties").items()) {
      if (member.contains("properties")) {
        add_members(member, pointer + "/" + key);
      } else if ((!member.contains("items") || is_plain_list(member)) && key != "$schema" && key != "extends" &&
                 key != "source" && key != "name" && key != "description") {
        add(member, pointer + "/" + key);
      }
    }
  }

  std::vector<FormField> fields;

 private:
  static void set_kind(const Json& schema, FormField& field) {
    const Json* typed = &schema;
    field.list = is_plain_list(schema);
    if (schema.contains("anyOf")) {  // a word, or an object or list
      typed = &schema.at("anyOf").at(0);
      for (const Json& form : schema.at("anyOf")) field.list = field.list || is_plain_list(form);
    }
    const std::string type = typed->value("type", "string");
    if (typed->contains("enum")) {
      field.choices = typed->at("enum").get<std::vector<std::string>>();
      field.kind = FieldKind::choice;
    } else if (!field.choices.empty()) {
      field.kind = FieldKind::name;
    } else if (type == "boolean") {
      field.kind = FieldKind::boolean;
    } else if (type == "integer" || type == "number") {
      field.kind = type == "integer" ? FieldKind::integer : FieldKind::number;
      field.minimum = typed->value("minimum", -1e15);
      field.maximum = typed->value("maximum", 1e15);
    } else if (typed->contains("pattern")) {
      field.kind = FieldKind::quantity;
    }
  }

  const KnownNames& names_;
  std::string group_;
};

}  // namespace

std::string title_of(const std::string& key) {
  std::string title = key;
  std::replace(title.begin(), title.end(), '_', ' ');
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z') title.front() = static_cast<char>(title[0] - 32);
  return title;
}

std::vector<FormField> form_fields(const KnownNames& names) {
  const Json scenario = Json::parse(schema_text("scenario")), model = Json::parse(schema_text("model")),
             cluster = Json::parse(schema_text("cluster"));
  const Json& top = scenario.at("properties");
  Walker walker(names);
  walker.group("Model");
  walker.add(top.at("model"), "/model/extends", names.models);
  walker.add(top.at("sequence_length"), "/sequence_length");
  walker.group("Cluster");
  walker.add(top.at("cluster"), "/cluster/extends", names.clusters);
  const Json& machine = cluster.at("properties");
  walker.add(machine.at("nodes"), "/cluster/nodes");
  walker.add(machine.at("gpu"), "/cluster/gpu", names.gpus);
  walker.group("Parallel layout");
  walker.add_members(top.at("parallel"), "/parallel");
  walker.group("Batch");
  walker.add_members(top.at("batch"), "/batch");
  walker.group("Schedule");
  const Json& schedule = top.at("schedule").at("anyOf").at(1).at("properties");
  walker.add(schedule.at("name"), "/schedule/name", names.schedules);
  for (const char* key : {"csv", "group_size", "memory_limit", "waves", "run_ahead", "flushes"})
    walker.add(schedule.at(key), std::string("/schedule/") + key);
  walker.group("Memory and precision");
  for (const char* key : {"precision", "recompute", "attention_kernel", "zero_stage"})
    walker.add(top.at(key), std::string("/") + key);
  walker.group("Overlap");
  walker.add_members(top.at("overlap"), "/overlap");

  // What a later version of the schema adds is in the form without anyone having to list it.
  walker.group("More");
  const std::vector<std::string> shown_or_not_a_setting = {"$schema",  "extends",   "name",       "description",
                                                           "model",    "cluster",   "parallel",   "batch",
                                                           "schedule", "published", "calibration"};
  walker.add(top.at("calibration"), "/calibration", names.calibrations);
  for (const auto& [key, member] : top.items()) {
    const std::string pointer = "/" + key;
    const bool listed =
        std::find(shown_or_not_a_setting.begin(), shown_or_not_a_setting.end(), key) != shown_or_not_a_setting.end() ||
        std::any_of(walker.fields.begin(), walker.fields.end(), [&](const FormField& field) {
          return field.pointer == pointer || field.pointer.starts_with(pointer + "/");
        });
    if (listed) continue;
    if (member.contains("properties")) {
      walker.add_members(member, pointer);
    } else if (!member.contains("items") || is_plain_list(member)) {
      walker.add(member, pointer);
    }
  }
  walker.group("Shape of the model");
  walker.add_members(model, "/model");
  return std::move(walker.fields);
}

}  // namespace stagecraft::gui
