// The reference of all fields, written from the schema.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "spec/scenario.hpp"
#include "spec/schema.hpp"

namespace stagecraft {
namespace {

using nlohmann::ordered_json;

constexpr const char* definitions = "#/definitions/";

struct Section {
  std::string pointer;
  ordered_json schema;
};

std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

std::string text_at(const ordered_json& schema, const char* key) {
  return schema.contains(key) ? schema.at(key).get<std::string>() : std::string();
}

std::string code(const ordered_json& value) {
  return fmt::format("`{}`", value.dump());
}

std::string range_of(const ordered_json& schema) {
  return fmt::format("{} to {}", code(schema.at("minimum")), code(schema.at("maximum")));
}

// What may stand in a field, in words.
std::string type_of(const ordered_json& schema) {
  if (schema.contains("$ref")) {
    const std::string file = schema.at("$ref").get<std::string>();
    if (file.starts_with(definitions)) {
      const std::string name = file.substr(std::string_view(definitions).size());
      return fmt::format("[{}](#{})", name, name);
    }
    return fmt::format("[{}](#{})", file.substr(0, file.find('.')), file.substr(0, file.find('.')));
  }
  for (const char* choice : {"anyOf", "oneOf", "allOf"})
    if (schema.contains(choice) && !schema.contains("type")) {
      std::string text;
      for (const ordered_json& option : schema.at(choice))
        text += fmt::format("{}{}", text.empty() ? "" : ", or ", type_of(option));
      return text;
    }
  if (schema.contains("enum")) {
    std::string text;
    for (const ordered_json& word : schema.at("enum"))
      text += fmt::format("{}{}", text.empty() ? "" : ", ", code(word));
    return text;
  }
  const std::string type = text_at(schema, "type");
  if (type == "integer") return fmt::format("integer, {}", range_of(schema));
  if (type == "number") return fmt::format("number, {}", range_of(schema));
  if (type == "boolean") return "`true`, `false`";
  if (type == "array")
    return fmt::format("list of {}", (schema.contains("items") ? type_of(schema.at("items")) : "values"));
  if (type == "string" && schema.contains("pattern")) return "string with a unit";
  return type;
}

// The object, or the objects of the list, that a field holds and that get a table of their own.
void nested(const std::string& pointer, const ordered_json& schema, std::vector<Section>& sections) {
  if (schema.contains("properties")) sections.push_back({pointer, schema});
  if (schema.contains("items")) nested(pointer + "[]", schema.at("items"), sections);
  for (const char* choice : {"anyOf", "oneOf"})
    if (schema.contains(choice) && !schema.contains("properties"))
      for (const ordered_json& option : schema.at(choice)) nested(pointer, option, sections);
}

std::string row(const std::string& key, const ordered_json& schema, bool required) {
  const std::string fallback = required ? "required" : schema.contains("default") ? code(schema.at("default")) : "";
  std::string examples;
  if (schema.contains("examples"))
    for (const ordered_json& example : schema.at("examples"))
      examples += fmt::format("{}{}", examples.empty() ? "" : ", ", code(example));
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", key, cell(type_of(schema)), cell(fallback),
                     cell(text_at(schema, "description")), cell(examples));
}

std::vector<std::string> listed(const ordered_json& schema, const char* key) {
  if (schema.contains(key)) return schema.at(key).get<std::vector<std::string>>();
  return {};
}

// The keys without which an object is not complete. Those of objects that may extend another stand in the alternatives
// at the root of the schema; a key counts if every alternative that does not extend asks for it.
std::vector<std::string> required_keys(const ordered_json& root, const Section& section) {
  std::vector<std::string> keys = listed(section.schema, "required");
  const bool elsewhere = section.pointer.find("[]") != std::string::npos ||
                         (!section.pointer.empty() && !section.pointer.starts_with("/"));  // a definition
  if (!root.contains("anyOf") || elsewhere) return keys;
  std::map<std::string, std::size_t> count;
  std::size_t alternatives = 0;
  for (const ordered_json& alternative : root.at("anyOf")) {
    if (listed(alternative, "required") == std::vector<std::string>{"extends"}) continue;
    const ordered_json::json_pointer place("/properties" + section.pointer);
    if (section.pointer.empty()) {
      ++alternatives;
      for (const std::string& key : listed(alternative, "required")) ++count[key];
    } else if (alternative.contains(place)) {
      ++alternatives;
      for (const std::string& key : listed(alternative.at(place), "required")) ++count[key];
    }
  }
  for (const auto& [key, times] : count)
    if (times == alternatives) keys.push_back(key);
  return keys;
}

}  // namespace

std::string schema_markdown(const std::string& name) {
  const ordered_json root = ordered_json::parse(schema_text(name));
  std::string text;
  std::vector<Section> sections{{"", root}};
  if (root.contains("definitions"))
    for (const auto& [key, definition] : root.at("definitions").items()) sections.push_back({key, definition});
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section section = sections[i];
    if (i == 0) {
      text += fmt::format("## {}\n\n", name);
    } else if (section.pointer.starts_with("/")) {
      text += fmt::format("### {}: `{}`\n\n", name, section.pointer);
    } else {
      text += fmt::format("### {}\n\n", section.pointer);
    }
    text += fmt::format("{}\n\n", text_at(section.schema, "description"));
    text += "| field | values | default | meaning | examples |\n|---|---|---|---|---|\n";
    const std::vector<std::string> required = required_keys(root, section);
    for (const auto& [key, field] : section.schema.at("properties").items()) {
      text += row(key, field, std::find(required.begin(), required.end(), key) != required.end());
      nested(section.pointer + "/" + key, field, sections);
    }
    text += "\n";
  }
  return text;
}

std::string scenario_reference() {
  std::string text = R"(# Fields of a scenario

Written from the JSON Schemas in `core/spec/schema`; `stagecraft schema NAME` prints them, and `"$schema"` in a file lets an
editor complete the fields and underline mistakes.

A scenario is one JSON file:

```json
{
  "$schema": "../core/spec/schema/scenario.schema.json",
  "model": "gpt-145b",
  "cluster": {"extends": "selene", "nodes": 192},
  "parallel": {"tensor": 8, "pipeline": 8, "virtual_stages": 2},
  "batch": {"global": 2304, "micro": 2},
  "recompute": "full"
}
```

**Names.** `"model": "gpt-145b"` is `scenarios/models/gpt-145b.json`; clusters and GPUs lie in `topologies/clusters` and
`topologies/gpus`. A value with a slash or the ending `.json` is a path from the directory of the file it stands in. Directories are
searched in this order: `$STAGECRAFT_DATA`, `share/stagecraft` beside `bin`, the source tree.

**Extending.** `{"extends": "selene", "nodes": 192}` takes every field of `selene` and replaces those written. Objects merge field by
field, lists are replaced. A whole scenario may extend another. An object that has an `extends` of its own starts anew from what it
names. Circles are refused.

**From the command line.** `--set PATH=VALUE` lays a value over the file, as often as needed. PATH is dotted (`parallel.tensor`) or a
JSON pointer (`/parallel/tensor`); VALUE is JSON, or else taken as text: `--set cluster.nodes=4`, `--set cluster.gpu=H100-SXM5-80GB`,
`--set gradient_bucket="80 MB"`, `--set 'schedule={"name": "zb-auto", "memory_limit": 2}'`. Where the scenario has a list, a number in PATH is a
position in it, from 0: `--set parallel.partition.0=5`.

**Units.** A quantity is a string with its unit: `"80 GiB"`, `"200 Gb/s"`, `"1.5 us"`, `"312 TFLOP/s"`. k, M, G, T, P, E are powers of
1000, Ki, Mi, Gi, Ti, Pi, Ei powers of 1024; b is bits, B is bytes. A bare number is refused.

**Mistakes** are refused with file, line, column, the field as a JSON pointer, what stands there, what would be accepted and the
nearest valid value; all of a file at once, and the exit code is 3.

)";
  for (const std::string& name : schema_names()) text += schema_markdown(name);
  text.pop_back();
  return text;
}

}  // namespace stagecraft
