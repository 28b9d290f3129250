#include "gui/models/point_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gui/models/json_edit.hpp"
#include "gui/models/scenario_keys.hpp"

namespace stagecraft::gui {
namespace {

using Json = nlohmann::ordered_json;

std::string pointer_of(std::string_view path) {
  std::string pointer(path);
  if (pointer.starts_with('/')) return pointer;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return "/" + pointer;
}

std::string merged(std::string text, const std::string& pointer, const Json& value, const std::string& literal) {
  if (!value.is_object() || value.empty()) return with_value(text, pointer, literal, scenario_short_keys);
  for (const auto& [key, member] : value.items()) {
    const std::string inner = member.dump(-1, ' ', false, Json::error_handler_t::replace);
    text = merged(std::move(text), pointer + "/" + key, member, inner);
  }
  return text;
}

}  // namespace

std::string with_override(std::string_view text, std::string_view path, std::string_view value) {
  const Json json = Json::parse(value, nullptr, false);
  const std::string literal = json.is_discarded() ? json_string(value) : std::string(value);
  return merged(std::string(text), pointer_of(path), json, literal);
}

std::string with_overrides(std::string text, const std::vector<std::string>& paths,
                           const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < paths.size(); ++i) text = with_override(text, paths[i], values[i]);
  return text;
}

std::string dotted(std::string_view pointer) {
  std::string path(pointer.substr(pointer.starts_with('/') ? 1 : 0));
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

}  // namespace stagecraft::gui
