// JSON and command lines, with the readers of the house.

#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.hpp"
#include "exchange/foreign_config.hpp"

namespace stagecraft {
namespace {

void check_size(std::string_view text, const std::string& file) {
  if (text.size() <= largest_foreign_text) return;
  throw InputError({file, 0, 0, "", fmt::format("{} bytes", text.size()),
                    fmt::format("at most {} bytes of configuration", largest_foreign_text), ""});
}

ForeignValue scalar(const JsonNode& node) {
  ForeignValue value;
  value.line = node.line();
  switch (node.kind()) {
    case JsonKind::null:
      break;
    case JsonKind::boolean:
      value.kind = ForeignKind::boolean;
      value.text = node.raw_boolean() ? "true" : "false";
      break;
    case JsonKind::integer:
    case JsonKind::number:
      value.kind = ForeignKind::number;
      value.text = node.dump();
      break;
    case JsonKind::string:
      value.kind = ForeignKind::string;
      value.text = std::string(node.raw_string());
      break;
    case JsonKind::array:
    case JsonKind::object:
      value.kind = ForeignKind::list;
      value.text = node.dump(200);
      break;
  }
  return value;
}

void flatten(const JsonNode& node, const std::string& prefix, ForeignConfig& config) {
  for (const JsonNode& member : node.members()) {
    const std::string key = prefix.empty() ? member.key() : prefix + "." + member.key();
    if (member.is(JsonKind::object)) {
      flatten(member, key, config);
    } else {
      config.set(key, scalar(member));
    }
  }
}

struct Word {
  std::string text;
  int line = 0;
};

// Words of a shell line: quotes, backslashes, comments. Nothing is expanded.
std::vector<Word> shell_words(std::string_view text, const std::string& file) {
  std::vector<Word> words;
  Word word;
  bool open = false;
  char quote = 0;
  int line = 1;
  const auto end_word = [&] {
    if (open) words.push_back(word);
    word = {};
    open = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word.text += c;
      }
      continue;
    }
    if (c == '\\' && i + 1 < text.size()) {
      ++i;
      if (text[i] == '\n') {
        ++line;
        continue;
      }
      if (!open) word.line = line;
      open = true;
      word.text += text[i];
      continue;
    }
    if (c == '#' && !open) {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      end_word();
      continue;
    }
    if (!open) word.line = line;
    open = true;
    if (c == '"' || c == '\'') {
      quote = c;
    } else {
      word.text += c;
    }
  }
  if (quote != 0) throw InputError({file, line, 0, "", "the end of the text", std::string("a closing ") + quote, ""});
  end_word();
  return words;
}

bool is_key(const std::string& word) {
  return word.size() > 2 && word[0] == '-' && word[1] == '-';
}

}  // namespace

bool nests_too_deep(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > 64) return true;
  }
  return false;
}

ForeignConfig foreign_from_json(std::string_view text, const std::string& file) {
  check_size(text, file);
  const JsonDocument document = JsonDocument::from_text(text, file);
  if (!document.root().is(JsonKind::object)) document.root().fail("an object");
  ForeignConfig config(file);
  flatten(document.root(), "", config);
  return config;
}

ForeignConfig foreign_from_arguments(std::string_view text, const std::string& file) {
  check_size(text, file);
  ForeignConfig config(file);
  const std::vector<Word> words = shell_words(text, file);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_key(words[i].text)) continue;  // the program, its launcher and what they take
    std::string key = words[i].text.substr(2);
    ForeignValue value;
    value.line = words[i].line;
    if (const std::size_t equals = key.find('='); equals != std::string::npos) {
      value.text = key.substr(equals + 1);
      value.kind = ForeignKind::string;
      key.resize(equals);
    } else {
      value.kind = ForeignKind::boolean;
      while (i + 1 < words.size() && !is_key(words[i + 1].text)) {
        const std::string& next = words[++i].text;
        if (next.size() > 3 && next.substr(next.size() - 3) == ".py") break;  // the launched program
        value.text += (value.text.empty() ? "" : " ") + next;
        value.kind = ForeignKind::string;
      }
    }
    std::replace(key.begin(), key.end(), '-', '_');
    if (value.text.find('$') != std::string::npos) {
      throw InputError({file, value.line, 0, key, value.text, "a value: shell variables are not expanded", ""});
    }
    config.set(key, value);
  }
  return config;
}

}  // namespace stagecraft
