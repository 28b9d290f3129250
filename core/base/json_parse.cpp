// Text to JsonTree: nlohmann decides what is JSON, a scanner of the same text tells where each value stands.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file_io.hpp"
#include "base/json_syntax.hpp"
#include "base/json_tree.hpp"

namespace stagecraft {
namespace {

struct Place {
  std::int32_t line = 1;
  std::int32_t column = 1;
};

/// Walks valid JSON token by token. Columns count characters, not bytes.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) offset_ = 3;
  }

  /// Where the next value, key or closing bracket begins; moves behind it.
  Place next() {
    while (offset_ < text_.size() && std::string_view(" \t\r\n,:").find(text_[offset_]) != std::string_view::npos)
      step();
    const Place begin = place_;
    if (offset_ >= text_.size()) return begin;
    if (text_[offset_] == '"') {
      skip_string();
    } else if (std::string_view("{}[]").find(text_[offset_]) != std::string_view::npos) {
      step();
    } else {
      while (offset_ < text_.size() &&
             std::string_view(" \t\r\n,:{}[]\"").find(text_[offset_]) == std::string_view::npos)
        step();
    }
    return begin;
  }

  void walk_to(std::size_t offset) {
    while (offset_ < std::min(offset, text_.size())) step();
  }
  Place place() const { return place_; }

 private:
  void skip_string() {
    step();
    while (offset_ < text_.size() && text_[offset_] != '"') {
      if (text_[offset_] == '\\') step();
      if (offset_ < text_.size()) step();
    }
    if (offset_ < text_.size()) step();
  }

  void step() {
    const auto letter = static_cast<unsigned char>(text_[offset_++]);
    if (letter == '\n') {
      ++place_.line;
      place_.column = 1;
    } else if ((letter & 0xC0u) != 0x80u) {  // not inside a UTF-8 sequence
      ++place_.column;
    }
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  Place place_;
};

// Receives nlohmann's events in the order of the text and appends values to the tree.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(JsonTree& tree, std::string_view text) : tree_(tree), text_(text), scanner_(text) {}

  bool null() override { return add(JsonKind::null).has_value(); }
  bool boolean(bool value) override {
    const auto index = add(JsonKind::boolean);
    if (index) tree_.at(*index).boolean = value;
    return index.has_value();
  }
  bool number_integer(std::int64_t value) override {
    const auto index = add(JsonKind::integer);
    if (index) tree_.at(*index).integer = value;
    return index.has_value();
  }
  bool number_unsigned(std::uint64_t value) override {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return number_float(static_cast<double>(value), "");
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) override {
    const auto index = add(JsonKind::number);
    if (index) tree_.at(*index).number = value;
    return index.has_value();
  }
  bool string(std::string& value) override {
    const auto index = add(JsonKind::string);
    if (index) tree_.at(*index).text = tree_.keep(value);
    return index.has_value();
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonKind::object); }
  bool start_array(std::size_t) override { return open(JsonKind::array); }
  bool end_object() override {
    const bool unique = keys_are_unique();
    close();
    return unique;
  }
  bool end_array() override {
    close();
    return true;
  }
  bool key(std::string& value) override {
    scanner_.next();
    key_ = tree_.keep(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) override {
    const SyntaxError found = explain_syntax_error(text_, position, token, error.what());
    Scanner scanner(text_);
    scanner.walk_to(found.offset);
    refuse(scanner.place(), open_.empty() ? "" : pointer_of_open(), found.got, found.expected);
    return false;
  }

  const std::optional<InputProblem>& problem() const { return problem_; }

 private:
  void refuse(Place place, std::string pointer, std::string got, std::string expected) {
    if (!problem_)
      problem_ = InputProblem{tree_.origins.front().file, place.line, place.column, std::move(pointer), std::move(got),
                              std::move(expected),        ""};
  }

  std::string pointer_of_open() const { return JsonNode(tree_, open_.back()).pointer(); }

  std::optional<std::int32_t> add(JsonKind kind) {
    const Place place = scanner_.next();
    if (tree_.values.size() >= json_most_values) {
      refuse(place, "", fmt::format("more than {} values", json_most_values), "a smaller document");
      return std::nullopt;
    }
    const std::int32_t index = tree_.next_index();
    JsonValue value;
    value.kind = kind;
    value.parent = open_.empty() ? -1 : open_.back();
    value.end = index + 1;
    value.line = place.line;
    value.column = place.column;
    value.key = key_;
    tree_.values.push_back(value);
    key_ = {0, 0};
    return index;
  }

  bool open(JsonKind kind) {
    const auto index = add(kind);
    if (!index) return false;
    open_.push_back(*index);
    if (open_.size() <= static_cast<std::size_t>(json_deepest)) return true;
    const JsonValue& value = tree_.at(*index);
    refuse({value.line, value.column}, "", fmt::format("nesting deeper than {}", json_deepest), "a flatter document");
    return false;
  }

  void close() {
    scanner_.next();
    tree_.at(open_.back()).end = tree_.next_index();
    open_.pop_back();
  }

  bool keys_are_unique() {
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    for (std::int32_t i = open_.back() + 1; i < tree_.next_index(); i = tree_.at(i).end)
      keys.emplace_back(tree_.view(tree_.at(i).key), i);
    std::sort(keys.begin(), keys.end());
    const auto twice =
        std::adjacent_find(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice == keys.end()) return true;
    const JsonValue& first = tree_.at(twice->second);
    const JsonValue& second = tree_.at(std::next(twice)->second);
    refuse({second.line, second.column}, JsonNode(tree_, std::next(twice)->second).pointer(),
           fmt::format("the key \"{}\" a second time", twice->first),
           fmt::format("each key once (the first is in line {})", first.line));
    return false;
  }

  JsonTree& tree_;
  std::string_view text_;
  Scanner scanner_;
  std::vector<std::int32_t> open_;
  JsonText key_{0, 0};
  std::optional<InputProblem> problem_;
};

}  // namespace

JsonDocument JsonDocument::from_text(std::string_view text, const std::string& display_name) {
  const auto refuse = [&](const std::string& got, const std::string& expected) {
    throw InputError(InputProblem{display_name, 0, 0, "", got, expected, ""});
  };
  if (text.size() > json_largest_text) refuse(fmt::format("a text of {} bytes", text.size()), "at most 64 MiB");
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    Scanner scanner(text);
    scanner.walk_to(nul);
    throw InputError(InputProblem{display_name, scanner.place().line, scanner.place().column, "", "a NUL byte",
                                  "text in UTF-8", ""});
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) refuse("an empty text", "a JSON document");

  auto tree = std::make_unique<JsonTree>();
  tree->origins.push_back({display_name, ""});
  TreeBuilder builder(*tree, text);
  const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.problem()) throw InputError(*builder.problem());
  if (!parsed || tree->values.empty()) refuse("text that is not JSON", "a JSON document");
  return JsonDocument(std::move(tree));
}

JsonDocument JsonDocument::from_file(const std::string& path) {
  return from_text(read_file(path, json_largest_text), path);
}

}  // namespace stagecraft
