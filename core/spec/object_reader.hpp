#pragma once
// Reads the members of one JSON object into a struct: every problem is collected, every default that was chosen is
// noted, and keys that nobody asked for are refused.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/input_error.hpp"
#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "spec/scenario.hpp"
#include "spec/words.hpp"

namespace stagecraft {

/// What comes up while a scenario is read.
struct Reading {
  std::vector<InputProblem> problems;
  std::vector<ChosenDefault> defaults;
  std::vector<std::string> files;  // that were read

  template <class Step>
  void attempt(Step step) {
    try {
      step();
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  void throw_problems() const;  // one InputError with all of them, if there are any
};

class ObjectReader {
 public:
  /// `where` is the pointer of the object in the scenario, for the list of defaults. Throws if `object` is not an
  /// object.
  ObjectReader(const JsonNode& object, std::string where, Reading& reading);

  const JsonNode& object() const { return object_; }
  Reading& reading() { return reading_; }

  /// Calls `read(node)` and stores its result if the key is there. True if the key is there, even if reading it failed.
  template <class Value, class Read>
  bool optional(const char* key, Value& into, Read read) {
    keys_.emplace_back(key);
    const auto node = object_.find(key);
    if (node) reading_.attempt([&] { into = read(*node); });
    return node.has_value();
  }

  template <class Value, class Read>
  void required(const char* key, Value& into, Read read) {
    if (!optional(key, into, read)) missing(key);
  }

  /// Keeps the value that `into` has, and notes it with `text(value)` and the reason, if the key is absent.
  template <class Value, class Read, class Text>
  void defaulted(const char* key, Value& into, Read read, Text text, const char* reason) {
    if (!optional(key, into, read)) note(key, text(into), reason);
  }

  /// Notes a default without reading.
  void note(const char* key, std::string value, std::string reason);

  /// Names a key that is read elsewhere.
  void allow(const char* key) { keys_.emplace_back(key); }

  /// Refuses the keys that were never asked for.
  void finish();

 private:
  void missing(const char* key);

  JsonNode object_;
  std::string where_;
  Reading& reading_;
  std::vector<std::string> keys_;
};

/// A reader of one of the words of a table of spec/words.hpp.
template <class Choice, std::size_t Count>
auto word_of(const Words<Choice, Count>& table) {
  return [&table](const JsonNode& node) {
    const std::string word = read_one_of(node, list_of(table));
    for (const auto& [choice, text] : table)
      if (word == text) return choice;
    return table.front().first;
  };
}

/// A reader of an integer in a range.
inline auto integer_in(std::int64_t min, std::int64_t max) {
  return [min, max](const JsonNode& node) { return read_integer(node, min, max); };
}

/// A reader of a number in a range.
inline auto number_in(double min, double max) {
  return [min, max](const JsonNode& node) { return read_number(node, min, max); };
}

std::string text_of(std::int64_t value);
std::string text_of_bool(bool value);
std::string text_of_number(double value);

}  // namespace stagecraft
