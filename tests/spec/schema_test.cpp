#include "spec/schema.hpp"

#define VALIJSON_USE_EXCEPTIONS 1  // as the library was built
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "base/file_io.hpp"
#include "base/json_merge.hpp"
#include "spec_test.hpp"

using namespace stagecraft;
using namespace stagecraft::test;
using nlohmann::json;

namespace {

// Puts the schema of another file where {"$ref": "NAME.schema.json"} stands, as an editor does; inside itself (the
// clusters of other nodes in a cluster) any object may stand.
void inline_references(json& schema, const std::string& inside = "") {
  std::string file = inside;
  if (schema.is_object() && schema.contains("$ref") && !schema["$ref"].get<std::string>().starts_with("#")) {
    file = schema["$ref"].get<std::string>();
    schema = file == inside ? json{{"type", "object"}} : json::parse(schema_text(file.substr(0, file.find('.'))));
  }
  if (!schema.is_structured()) return;
  for (auto& child : schema) inline_references(child, file);
}

// What an editor says about the text as it is written.
class EditorSchema {
 public:
  explicit EditorSchema(const std::string& name) {
    json text = json::parse(schema_text(name));
    inline_references(text);
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema_);
  }
  bool accepts(const std::string& text) const {
    const json document = json::parse(text);
    valijson::Validator validator;
    return validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
  }

 private:
  valijson::Schema schema_;
};

std::string with(const std::string& set) {
  const JsonDocument below = JsonDocument::from_text(small_scenario(), "run.json");
  const JsonDocument above = parse_override(set);
  return merge(below.root(), above.root()).root().dump();
}

bool loads(const std::string& text) {
  return problems_of([&] { parsed(text); }).empty();
}

void check_descriptions(const json& schema, const std::string& place) {
  if (schema.contains("properties"))
    for (const auto& [key, field] : schema["properties"].items()) {
      CAPTURE(place, key);
      CHECK_FALSE(field.value("description", "").empty());
      const bool object = field.contains("properties") || field.contains("allOf");
      CHECK((object || field.contains("examples")));
      check_descriptions(field, place + "/" + key);
    }
  if (schema.contains("definitions"))
    for (const auto& [key, definition] : schema["definitions"].items())
      check_descriptions(definition, place + "#" + key);
  if (schema.contains("items")) check_descriptions(schema["items"], place + "[]");
  if (schema.contains("anyOf"))
    for (const json& option : schema["anyOf"])
      if (option.contains("type")) check_descriptions(option, place);
}

}  // namespace

TEST_CASE("the schema and the loader accept the same scenarios") {
  const auto set = GENERATE(
      "steps=1", "steps=255", "parallel.tensor=1024", "parallel.data=1048576", "parallel.partition=parameters",
      "parallel.partition=[24]", "schedule=gpipe", R"(schedule={"name":"zb-auto","memory_limit":1.5})",
      R"(schedule={"name":"interleaved-1f1b","group_size":4})", "precision=fp32", "recompute=full",
      "attention_kernel=unfused", "zero_stage=1", "zero_stage=3", R"(sharding={"unit":"block","group":8})",
      R"(offload={"optimizer":"host","host_adam_per_parameter":"1 ns"})", "recipe=pure_bf16", "optimizer=adafactor",
      "loss_kernel=fused", "expandable_segments=true", R"(overlap={"tensor":true})", "overlap={}",
      "receive_placement=before_consumer", "gradient_bucket=1e6 B", "gradient_bucket=.5 GiB", "calibration=a100-hdr",
      "published=[]", R"(published=[{"key":"mfu","value":0.5,"flop_convention":"6n","source":"x"}])",
      R"(model={"extends":"gpt-7.5b","blocks":12})", R"(cluster={"extends":"selene","nodes":8})",
      R"(cluster={"extends":"box-1gpu","gpu":{"extends":"A100-SXM4-80GB","memory":"90 GB","memory_usable":"80 GB"}})",
      R"(cluster={"extends":"selene","fabric":{"kind":"fat_tree","oversubscription":2}})",
      R"(cluster={"extends":"selene","node":{"host_memory":"1 TB"}})",
      R"(model={"extends":"gpt-7.5b","mlp":{"gated":true}})",
      R"(model={"name":"p","plain_layers":[{"name":"a","forward_flops_per_sample":"1 FLOP","parameters":0,
         "output_per_sample":"0 B","activations_per_sample":"1 b"}]})",
      R"(model={"name":"m","hidden":64,"blocks":2,"vocabulary":10,"sequence_length":4,"attention":{"heads":4},
         "mlp":{"ffn_hidden":8,"activation":"relu"},"norm":"rms_norm","positions":"none","dropout":0.5})");
  const std::string text = with(set);
  CAPTURE(text);
  CHECK(loads(text));
  CHECK(EditorSchema("scenario").accepts(text));
}

TEST_CASE("the schema and the loader refuse the same scenarios") {
  const auto set = GENERATE(
      "steps=0", "steps=256", "steps=1.5", "steps=\"1\"", "parallel.tensor=0", "parallel.tensor=1025", "parallel=[]",
      "parallel.tensr=1", "parallel.partition=even", "parallel.partition=[-1]", "parallel.sequence_parallel=1",
      "batch.global=null", "batch.micro=0", "unknown=1", "schedule={}", "schedule=7",
      R"(schedule={"name":"a","csv":"b"})", R"(schedule={"name":"a","waves":0})", "precision=bf15", "recompute=no",
      "attention_kernel=flash", "zero_stage=4", "sharding.unit=layer", "sharding.groups=8", "offload.optimizer=disk",
      "offload.host_adam_per_parameter=1", "recipe=fp16", "optimizer=adamw", "loss_kernel=flash", "recompute_blocks=0",
      "expandable_segments=1", "overlap=true", "overlap.tensor=\"yes\"", "receive_placement=late",
      "gradient_bucket=160", "gradient_bucket=160 MB/s", "gradient_bucket=MB", "calibration=", "published=3",
      R"(published=[{"key":"mfu","source":"x"}])", "model=7", "model=[]", "cluster=true", "name=", "sequence_length=0",
      R"(model={"extends":"gpt-7.5b","blocks":0})", R"(model={"extends":"gpt-7.5b","block":1})",
      R"(model={"name":"m","hidden":64})", R"(model={"name":"p","plain_layers":[]})",
      R"(model={"name":"p","hidden":3,"plain_layers":[{"name":"a","forward_flops_per_sample":"1 FLOP","parameters":0,
         "output_per_sample":"0 B","activations_per_sample":"1 B"}]})",
      R"(cluster={"extends":"selene","nodes":0})", R"(cluster={"extends":"selene","node":{"name":""}})",
      R"(cluster={"extends":"selene","fabric":{"kind":"torus"}})",
      R"(cluster={"extends":"box-1gpu","gpu":{"extends":"A100-SXM4-80GB","memory":80}})",
      R"(cluster={"extends":"box-1gpu","node":{"wires":[{"kind":"pcie","nominal":"1 GB/s","latency":"1 s","source":"x"}]}})");
  const std::string text = with(set);
  CAPTURE(text);
  CHECK_FALSE(loads(text));
  CHECK_FALSE(EditorSchema("scenario").accepts(text));
}

TEST_CASE("the loader's schema check alone refuses what breaks the schema, and says where") {
  const JsonDocument document = JsonDocument::from_text(
      R"({"model": "a", "cluster": "b", "parallel": {}, "batch": {"global": "x"}})", "run.json");
  const InputProblem problem = refused([&] { check_schema(document.root(), "scenario"); });
  CHECK(problem.file == "run.json");
  CHECK(contains(problem.pointer, "/batch"));
  CHECK(contains(problem.expected, "schema \"scenario\""));
}

TEST_CASE("the schemas are those of the source tree, byte for byte") {
  for (const std::string& name : schema_names()) {
    CAPTURE(name);
    CHECK(schema_text(name) == read_file(source_file("core/spec/schema/" + name + ".schema.json")));
  }
  CHECK(refused([] { schema_text("scenaro"); }).nearest == "scenario");
}

TEST_CASE("every field of every schema has a description and an example, for editors") {
  for (const std::string& name : schema_names()) {
    const json schema = json::parse(schema_text(name));
    CHECK(schema["$schema"] == "http://json-schema.org/draft-07/schema#");
    check_descriptions(schema, name);
  }
}

TEST_CASE("docs/scenario.md is what the schemas say") {
  const std::string path = source_file("docs/scenario.md");
  if (std::getenv("STAGECRAFT_UPDATE_DOCS") != nullptr) write_file_whole(path, scenario_reference());
  CHECK(read_file(path) == scenario_reference());
}
