#include "gui/models/json_edit.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/json_reader.hpp"

namespace stagecraft::gui {
namespace {

struct Member {
  std::string key;
  std::size_t key_begin = 0, value_begin = 0, value_end = 0;
};

struct ObjectText {
  std::size_t open = 0, close = 0;  // of the braces
  std::vector<Member> members;
};

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

// Precondition of all that follows: the text is valid JSON.
std::size_t skip_value(std::string_view text, std::size_t at) {
  if (text[at] == '"') return skip_string(text, at);
  if (text[at] != '{' && text[at] != '[') {
    while (at < text.size() && !is_space(text[at]) && std::string_view(",]}").find(text[at]) == std::string_view::npos)
      ++at;
    return at;
  }
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
    if (depth == 0) break;
  }
  return at;
}

ObjectText read_object(std::string_view text, std::size_t open) {
  ObjectText object;
  object.open = open;
  std::size_t at = skip_space(text, open + 1);
  while (at < text.size() && text[at] != '}') {
    Member member;
    member.key_begin = at;
    const std::size_t key_end = skip_string(text, at);
    member.key = nlohmann::json::parse(text.substr(at, key_end - at)).get<std::string>();
    member.value_begin = skip_space(text, skip_space(text, key_end) + 1);
    member.value_end = skip_value(text, member.value_begin);
    object.members.push_back(std::move(member));
    at = skip_space(text, object.members.back().value_end);
    if (at < text.size() && text[at] == ',') at = skip_space(text, at + 1);
  }
  object.close = at;
  return object;
}

const Member* find(const ObjectText& object, const std::string& key) {
  for (const Member& member : object.members)
    if (member.key == key) return &member;
  return nullptr;
}

std::string nested(const std::vector<std::string>& keys, std::size_t from, std::string_view value) {
  std::string out(value);
  for (std::size_t i = keys.size(); i > from; --i) out = fmt::format("{{{}: {}}}", json_string(keys[i - 1]), out);
  return out;
}

/// What stands between the members of an object: a line break with its indentation, or a blank.
std::string separator_of(std::string_view text, const ObjectText& object) {
  if (object.members.empty()) return "";
  const std::string_view before = text.substr(object.open + 1, object.members.front().key_begin - object.open - 1);
  return before.find('\n') == std::string_view::npos ? " " : std::string(before.substr(before.rfind('\n')));
}

std::string inserted(std::string_view text, const ObjectText& object, const std::string& member) {
  std::string out(text);
  if (object.members.empty()) return out.replace(object.open + 1, object.close - object.open - 1, member);
  return out.insert(object.members.back().value_end, "," + separator_of(text, object) + member);
}

std::size_t root_of(std::string_view text) {
  const JsonDocument checked = JsonDocument::from_text(text, "scenario");
  if (!checked.root().is(JsonKind::object)) checked.root().fail("an object");
  return skip_space(text, text.starts_with("\xEF\xBB\xBF") ? 3 : 0);  // behind the byte order mark
}

}  // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> pointer_keys(std::string_view pointer) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      keys.emplace_back();
    } else if (!keys.empty()) {
      const bool escaped = pointer[i] == '~' && i + 1 < pointer.size();
      keys.back() += escaped ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
    }
  }
  return keys;
}

std::string with_value(std::string_view text, std::string_view pointer, std::string_view value,
                       std::span<const ShortKey> short_keys) {
  const std::vector<std::string> keys = pointer_keys(pointer);
  std::size_t at = root_of(text);
  std::string here;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const ObjectText object = read_object(text, at);
    const Member* const member = find(object, keys[i]);
    if (member == nullptr) return inserted(text, object, json_string(keys[i]) + ": " + nested(keys, i + 1, value));
    here += "/" + keys[i];
    const std::string_view old = text.substr(member->value_begin, member->value_end - member->value_begin);
    std::string out(text);
    if (i + 1 == keys.size()) return out.replace(member->value_begin, old.size(), value);
    if (old.front() != '{') {
      for (const ShortKey& form : short_keys) {
        if (form.pointer != here || old.front() != '"') continue;
        const std::string object_text = fmt::format("{{{}: {}, {}: {}}}", json_string(form.key), old,
                                                    json_string(keys[i + 1]), nested(keys, i + 2, value));
        return out.replace(member->value_begin, old.size(), object_text);
      }
      return out.replace(member->value_begin, old.size(), nested(keys, i + 1, value));
    }
    at = member->value_begin;
  }
  return std::string(text);
}

std::string without_value(std::string_view text, std::string_view pointer) {
  const std::vector<std::string> keys = pointer_keys(pointer);
  std::size_t at = root_of(text);
  std::optional<std::pair<ObjectText, std::size_t>> cut;  // the outermost member that would hold nothing else
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const ObjectText object = read_object(text, at);
    const Member* const member = find(object, keys[i]);
    if (member == nullptr) return std::string(text);
    if (!cut || object.members.size() > 1) cut = {object, static_cast<std::size_t>(member - object.members.data())};
    if (i + 1 < keys.size() && text[member->value_begin] != '{') return std::string(text);
    at = member->value_begin;
  }
  if (!cut) return std::string(text);
  const std::vector<Member>& members = cut->first.members;
  const std::size_t index = cut->second;
  std::size_t begin = members[index].key_begin, end = members[index].value_end;
  if (index > 0) {
    begin = members[index - 1].value_end;
  } else if (members.size() > 1) {
    end = members[1].key_begin;
  }
  std::string out(text);
  return out.erase(begin, end - begin);
}

std::string value_at(std::string_view text, std::string_view pointer) {
  std::size_t at = root_of(text), end = text.size();
  for (const std::string& key : pointer_keys(pointer)) {
    if (text[at] != '{') return "";
    const ObjectText object = read_object(text, at);
    const Member* const member = find(object, key);
    if (member == nullptr) return "";
    at = member->value_begin;
    end = member->value_end;
  }
  return std::string(text.substr(at, end - at));
}

}  // namespace stagecraft::gui
