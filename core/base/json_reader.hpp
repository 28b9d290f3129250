#pragma once
// Reads JSON that people write. Every value remembers the file, line and column it came from, also after a merge, so
// that a message points at the character to change. Duplicate keys, NUL bytes, invalid UTF-8, nesting deeper than 64,
// more than 64 MiB and more than 4 Mi values are refused. Typed reading is in base/json_fields.hpp, merging in
// base/json_merge.hpp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_error.hpp"

namespace stagecraft {

enum class JsonKind : std::uint8_t { null, boolean, integer, number, string, array, object };
std::string to_text(JsonKind kind);  // "an integer", "a list", ...

struct JsonTree;  // the values, base/json_tree.hpp

/// A value inside a JsonDocument; valid as long as the document (moving the document is fine).
class JsonNode {
 public:
  JsonNode(const JsonTree& tree, std::int32_t index) : tree_(&tree), index_(index) {}

  JsonKind kind() const;
  bool is(JsonKind wanted) const { return kind() == wanted; }
  bool is_number() const { return is(JsonKind::integer) || is(JsonKind::number); }

  std::string key() const;      // its key in the object it is in; "" for elements and the root
  std::string pointer() const;  // JSON pointer within the file it was written in
  std::string file() const;     // as the user named it, or "--set"
  int line() const;             // 1-based, 0 if there is none
  int column() const;

  /// Members in the order of the file, elements in their order. All throw InputError if this is not an object or array.
  std::optional<JsonNode> find(std::string_view key) const;
  JsonNode at(std::string_view key) const;  // throws InputError naming the missing key
  std::vector<JsonNode> members() const;
  std::vector<JsonNode> elements() const;
  std::size_t size() const;  // members or elements; 0 for a scalar

  /// The raw scalars; preconditions: the kind. Use the readers of json_fields.hpp for user input.
  bool raw_boolean() const;
  std::int64_t raw_integer() const;
  double raw_number() const;  // also of an integer
  std::string_view raw_string() const;

  /// Compact JSON text of the value, cut to about `limit` characters (0: whole).
  std::string dump(std::size_t limit = 0) const;

  /// What an error at this value says; `got` is the value itself unless given.
  InputProblem problem(std::string expected, std::string nearest = "", std::string got = "") const;
  [[noreturn]] void fail(std::string expected, std::string nearest = "", std::string got = "") const;

  const JsonTree& tree() const { return *tree_; }
  std::int32_t index() const { return index_; }

 private:
  const JsonTree* tree_;
  std::int32_t index_;
};

class JsonDocument {
 public:
  /// Throws InputError: file missing or unreadable, too large, not UTF-8, malformed, duplicate key, too deep.
  static JsonDocument from_file(const std::string& path);
  static JsonDocument from_text(std::string_view text, const std::string& display_name);

  explicit JsonDocument(std::unique_ptr<JsonTree> tree);
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

  JsonNode root() const;

 private:
  std::unique_ptr<JsonTree> tree_;
};

}  // namespace stagecraft
