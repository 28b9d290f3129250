#pragma once
// A configuration of another framework as flat keys and values, whatever text it was written in. Who maps it takes the
// keys that it knows; what is left is told to the user.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_error.hpp"

namespace stagecraft {

enum class ForeignKind : std::uint8_t { null, boolean, number, string, list };

struct ForeignValue {
  ForeignKind kind = ForeignKind::null;
  std::string text;  // as written; elements of a list, blank between them
  int line = 0;      // 1-based; 0 if there is none
};

class ForeignConfig {
 public:
  explicit ForeignConfig(std::string file) : file_(std::move(file)) {}

  /// The last value of a key counts, as in all of these frameworks. At most 65536 keys.
  void set(const std::string& key, ForeignValue value);
  const std::string& file() const { return file_; }

  /// The typed value of the first of `keys` (blank between them) that is there and not null; all of them count as
  /// taken. InputError that names the key in its file if the value has another type or lies outside the range.
  std::optional<std::int64_t> integer(std::string_view keys, std::int64_t least = 1,
                                      std::int64_t most = std::int64_t{1} << 40);
  std::optional<double> number(std::string_view keys, double least = 0, double most = 1e18);
  std::optional<bool> flag(std::string_view keys);
  std::optional<std::string> text(std::string_view keys);
  bool has(std::string_view key) const { return values_.find(std::string(key)) != values_.end(); }

  /// Takes keys that have no effect on a step.
  void ignore(std::string_view keys);

  /// Keys that nobody took, "key = value", in order.
  std::vector<std::string> left() const;

  /// Refuses the value of a key: "file:12: key: got ..., expected ...".
  [[noreturn]] void refuse(const std::string& key, const std::string& expected, const std::string& nearest = "") const;

 private:
  std::optional<std::string> find(std::string_view keys);

  std::string file_;
  std::map<std::string, ForeignValue> values_;
  std::set<std::string> taken_;
};

/// Nested keys are joined by dots. Throw InputError for text that is malformed, too large (1 MiB) or too deep.
ForeignConfig foreign_from_json(std::string_view text, const std::string& file);
/// Throw InputError that says so if the program was built without the library that reads the form.
ForeignConfig foreign_from_yaml(std::string_view text, const std::string& file);
ForeignConfig foreign_from_toml(std::string_view text, const std::string& file);
/// A command line: --key value, --key=value, --flag; quotes and line ends with a backslash as in a shell, '#' starts a
/// comment. Keys are written with underscores.
ForeignConfig foreign_from_arguments(std::string_view text, const std::string& file);

inline constexpr std::size_t largest_foreign_text = std::size_t{1} << 20;

/// Whether brackets and braces stand deeper than 64 in one another: libraries read them by recursion.
bool nests_too_deep(std::string_view text);

}  // namespace stagecraft
