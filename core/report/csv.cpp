#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "report/formats.hpp"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

/// Quoted as RFC 4180 asks where the text holds a comma, a quote or a line end.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void add(const std::string& key, const Json& value, std::string& out) {
  if (value.is_structured()) {
    std::size_t index = 0;
    for (const auto& [name, inner] : value.items()) {
      const std::string part = value.is_array() ? fmt::format("{}", index++) : name;
      add(key.empty() ? part : key + "." + part, inner, out);
    }
    return;
  }
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  out += fmt::format("{},{}\n", cell(key), cell(text));
}

}  // namespace

std::string to_csv(const Report& report) {
  std::string out = "key,value\n";
  add("", Json::parse(to_json(report)), out);
  return out;
}

}  // namespace stagecraft
