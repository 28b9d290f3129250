#include "spec/schema.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "spec/scenario.hpp"
#include "spec/schema/embedded.hpp"

namespace stagecraft {
namespace {

using nlohmann::json;

json plain_json(const JsonNode& node) {
  switch (node.kind()) {
    case JsonKind::null:
      return nullptr;
    case JsonKind::boolean:
      return node.raw_boolean();
    case JsonKind::integer:
      return node.raw_integer();
    case JsonKind::number:
      return node.raw_number();
    case JsonKind::string:
      return std::string(node.raw_string());
    case JsonKind::array: {
      json list = json::array();
      for (const JsonNode& element : node.elements()) list.push_back(plain_json(element));
      return list;
    }
    case JsonKind::object:
      break;
  }
  json object = json::object();
  for (const JsonNode& member : node.members()) object[member.key()] = plain_json(member);
  return object;
}

// A member that may refer to a file of another kind is checked against that kind's schema once it is resolved; here it
// only has to be an object.
void open_references(json& schema) {
  const bool elsewhere =
      schema.is_object() && schema.contains("$ref") && !schema["$ref"].get<std::string>().starts_with("#");
  if (elsewhere) schema = json{{"type", "object"}};
  if (!schema.is_structured()) return;
  for (auto& child : schema) open_references(child);
}

// "[parallel]", "[3]" as valijson writes the way from the root; as far as it exists.
JsonNode node_at(const JsonNode& root, const std::vector<std::string>& context) {
  JsonNode node = root;
  for (const std::string& token : context) {
    if (token.size() < 2 || token.front() != '[') continue;
    const std::string key = token.substr(1, token.size() - 2);
    if (node.is(JsonKind::object)) {
      const auto member = node.find(key);
      if (!member) return node;
      node = *member;
    } else if (node.is(JsonKind::array)) {
      const std::vector<JsonNode> elements = node.elements();
      const std::size_t position = key.find_first_not_of("0123456789") == std::string::npos ? std::stoul(key) : 0;
      if (position >= elements.size()) return node;
      node = elements[position];
    }
  }
  return node;
}

}  // namespace

std::vector<std::string> schema_names() {
  return {"scenario", "model", "cluster", "gpu", "calibration"};
}

std::string schema_text(const std::string& name) {
  if (name == "scenario") return std::string(embedded::scenario_schema);
  if (name == "model") return std::string(embedded::model_schema);
  if (name == "cluster") return std::string(embedded::cluster_schema);
  if (name == "gpu") return std::string(embedded::gpu_schema);
  if (name == "calibration") return std::string(embedded::calibration_schema);
  std::string known;
  for (const std::string& each : schema_names()) known += (known.empty() ? "" : ", ") + each;
  throw InputError(InputProblem{"", 0, 0, "", fmt::format("the unknown schema \"{}\"", name),
                                fmt::format("one of {}", known), nearest_word(name, schema_names())});
}

void check_schema(const JsonNode& root, const std::string& name) {
  json schema_json = json::parse(schema_text(name));
  open_references(schema_json);
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), schema);

  const json document = plain_json(root);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results)) return;
  valijson::ValidationResults::Error error;
  std::size_t deepest = 0;
  std::optional<JsonNode> place;
  std::string reason = fmt::format("a document that satisfies the schema \"{}\"", name);
  while (results.popError(error)) {
    if (place && error.context.size() <= deepest) continue;
    deepest = error.context.size();
    place = node_at(root, error.context);
    reason = fmt::format("what the schema \"{}\" asks for ({})", name, error.description);
  }
  (place ? *place : root).fail(reason);
}

}  // namespace stagecraft
