#include "gui/models/field_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "base/input_error.hpp"
#include "base/json_reader.hpp"
#include "gui/models/json_edit.hpp"
#include "spec/resolve.hpp"

namespace stagecraft::gui {
namespace {

std::string shown(const JsonNode& node) {
  if (node.is(JsonKind::array)) {
    std::string text;
    for (const JsonNode& element : node.elements()) text += (text.empty() ? "" : ", ") + shown(element);
    return text;
  }
  return node.is(JsonKind::string) ? std::string(node.raw_string()) : node.dump(200);
}

std::optional<JsonNode> node_at(const JsonNode& root, const std::vector<std::string>& keys, std::size_t from = 0) {
  std::optional<JsonNode> node = root;
  for (std::size_t i = from; i < keys.size() && node; ++i) {
    if (!node->is(JsonKind::object)) return std::nullopt;
    node = node->find(keys[i]);
  }
  return node;
}

/// "/schedule/name" of "1f1b", "/cluster/gpu" of {"extends": ...}: the short word of an object.
std::optional<JsonNode> word_at(const JsonNode& root, const std::vector<std::string>& keys) {
  if (keys.size() == 2 && (keys[1] == "extends" || keys[1] == "name")) {
    const std::optional<JsonNode> whole = node_at(root, {keys[0]});
    if (whole && whole->is(JsonKind::string)) return whole;
  }
  std::optional<JsonNode> node = node_at(root, keys);
  if (node && node->is(JsonKind::object)) node = node->find("extends");
  return node;
}

FieldValue written(const JsonNode& node, const std::string& path) {
  if (node.file() == path) return {shown(node), ValueOrigin::here, ""};
  return {shown(node), ValueOrigin::inherited, std::filesystem::path(node.file()).filename().string()};
}

class Resolver {
 public:
  Resolver(const JsonNode& root, const std::string& path, const Library& library) : root_(root), path_(path) {
    part(models_, "model", "models", library);
    part(clusters_, "cluster", "clusters", library);
  }

  std::optional<FieldValue> find(const std::vector<std::string>& keys) const {
    if (const auto node = word_at(root_, keys)) return written(*node, path_);
    const std::optional<JsonDocument>& part = keys.front() == "model" ? models_ : clusters_;
    if ((keys.front() != "model" && keys.front() != "cluster") || keys.size() < 2 || !part) return std::nullopt;
    std::optional<JsonNode> node = node_at(part->root(), keys, 1);
    if (node && node->is(JsonKind::object)) node = node->find("extends");
    if (!node) return std::nullopt;
    return FieldValue{shown(*node), ValueOrigin::library, std::filesystem::path(node->file()).filename().string()};
  }

 private:
  void part(std::optional<JsonDocument>& into, const char* key, const char* kind, const Library& library) const {
    try {
      if (const auto node = root_.find(key)) into = resolve_part(*node, kind, library);
    } catch (const InputError&) {  // said where the scenario itself is read
    }
  }

  JsonNode root_;
  std::string path_;
  std::optional<JsonDocument> models_, clusters_;
};

std::optional<FieldValue> chosen(const Scenario* scenario, const FormField& field) {
  if (scenario != nullptr) {
    const std::string short_form =
        field.pointer.ends_with("/name") ? field.pointer.substr(0, field.pointer.size() - 5) : field.pointer;
    for (const ChosenDefault& one : scenario->defaults)
      if (one.pointer == field.pointer || one.pointer == short_form)
        return FieldValue{one.value, ValueOrigin::chosen, one.reason};
  }
  if (field.default_text.empty()) return std::nullopt;
  return FieldValue{field.default_text, ValueOrigin::chosen, "the default"};
}

/// What the reader would take for one number: "1e3", but not "1e", "2.", "01", "+2" or "1e999".
bool is_json_number(const std::string& text) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  if (text.empty() || (!digit(text.front()) && text.front() != '-') || !digit(text.back())) return false;
  try {
    const JsonDocument document = JsonDocument::from_text(text, "");
    return document.root().is(JsonKind::integer) || document.root().is(JsonKind::number);
  } catch (const InputError&) {
    return false;
  }
}

/// "9, 10 10" -> [9, 10, 10].
std::string list_literal(const std::string& typed) {
  constexpr const char* between = ", []";
  std::string literal;
  for (std::size_t at = typed.find_first_not_of(between); at < typed.size();) {
    const std::size_t end = std::min(typed.find_first_of(between, at), typed.size());
    const std::string element = typed.substr(at, end - at);
    literal += (literal.empty() ? "" : ", ") + (is_json_number(element) ? element : json_string(element));
    at = typed.find_first_not_of(between, end);
  }
  return "[" + literal + "]";
}

}  // namespace

std::map<std::string, FieldValue> field_values(std::string_view text, const std::string& path,
                                               const std::vector<FormField>& fields, const Scenario* scenario,
                                               const Library& library) {
  std::map<std::string, FieldValue> values;
  std::optional<JsonDocument> document;
  try {
    document = resolve_scenario(text, path);
  } catch (const InputError&) {
  }
  std::optional<Resolver> resolver;
  if (document) resolver.emplace(document->root(), path, library);
  for (const FormField& field : fields) {
    std::optional<FieldValue> value;
    if (resolver) value = resolver->find(pointer_keys(field.pointer));
    if (!value) value = chosen(scenario, field);
    values[field.pointer] = value.value_or(FieldValue{});
  }
  return values;
}

std::string literal_of(const FormField& field, const std::string& typed) {
  const bool is_choice = std::find(field.choices.begin(), field.choices.end(), typed) != field.choices.end();
  if (field.list && !is_choice) return list_literal(typed);
  switch (field.kind) {
    case FieldKind::integer:
    case FieldKind::number:
      return is_json_number(typed) ? typed : json_string(typed);
    case FieldKind::boolean:
      return typed == "true" || typed == "false" ? typed : json_string(typed);
    default:
      return json_string(typed);
  }
}

std::vector<std::string> offered_values(const std::string& nearest) {
  std::vector<std::string> values;
  std::size_t begin = 0;
  while (begin <= nearest.size() && !nearest.empty()) {
    const std::size_t end = std::min(nearest.find(" or ", begin), nearest.size());
    std::string value = nearest.substr(begin, end - begin);
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    const bool word = !value.empty() && value.find(' ') == std::string::npos;
    const bool quantity = !value.empty() && std::isdigit(static_cast<unsigned char>(value.front())) &&
                          value.ends_with("B") && std::count(value.begin(), value.end(), ' ') == 1;
    if (!word && !quantity) return {};
    values.push_back(std::move(value));
    begin = end + 4;
  }
  return values;
}

std::string written_pointer(std::string_view text, const std::string& field) {
  if (field == "/schedule/name" || field == "/model/extends" || field == "/cluster/extends") {
    const std::string whole = field.substr(0, field.rfind('/'));
    const std::string there = value_at(text, whole);
    if (!there.starts_with('{') || (field == "/schedule/name" && value_at(text, field).empty())) return whole;
  }
  if (field == "/cluster/gpu" && value_at(text, field).starts_with('{')) return "/cluster/gpu/extends";
  return field;
}

}  // namespace stagecraft::gui
