#include "report/schema.hpp"

#include <nlohmann/json.hpp>

#include "report/keys.hpp"
#include "report/report.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

/// The schema of the object (or list of objects) member `name` of `parent`, made if it is not there yet.
Json& member(Json& parent, std::string name) {
  const bool is_list = name.ends_with("[]");
  if (is_list) name.resize(name.size() - 2);
  Json& properties = parent["properties"];
  if (!properties.contains(name)) {
    parent["required"].push_back(name);
    Json object = {{"type", "object"},
                   {"additionalProperties", false},
                   {"required", Json::array()},
                   {"properties", Json::object()}};
    properties[name] = is_list ? Json{{"type", "array"}, {"items", std::move(object)}} : std::move(object);
  }
  return is_list ? properties[name]["items"] : properties[name];
}

void add(Json& root, const ReportKey& key) {
  Json* at = &root;
  std::string rest = key.path;
  for (std::size_t dot = rest.find('.'); dot != std::string::npos; dot = rest.find('.')) {
    at = &member(*at, rest.substr(0, dot));
    rest = rest.substr(dot + 1);
  }
  Json leaf = {{"description", key.meaning}, {"type", key.type}};
  if (key.path == "version") leaf["const"] = report_version;
  if (key.path.ends_with("evidence")) leaf["enum"] = {"measured", "fitted", "borrowed"};
  if (key.path == "kind") leaf["enum"] = {"predicted", "estimated"};
  if (rest.ends_with("[]")) {
    rest.resize(rest.size() - 2);
    leaf = {{"type", "array"}, {"items", std::move(leaf)}};
  }
  (*at)["required"].push_back(rest);
  (*at)["properties"][rest] = std::move(leaf);
}

}  // namespace

std::string report_schema_text() {
  Json root = {{"$schema", "http://json-schema.org/draft-07/schema#"},
               {"title", "Report"},
               {"description", "What `stagecraft simulate --format json` prints."},
               {"type", "object"},
               {"additionalProperties", false},
               {"required", Json::array()},
               {"properties", Json::object()}};
  for (const ReportKey& key : report_keys()) add(root, key);
  return root.dump(2) + "\n";
}

}  // namespace stagecraft
