#pragma once
// Optional members of a record's objects. Null counts as absent; a value of another type is a problem of the record.

#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "validate/record.hpp"

namespace stagecraft {

class RecordFields {
 public:
  RecordFields(const std::optional<JsonNode>& object, Record& record);

  std::optional<JsonNode> find(const char* key) const;
  std::string text(const char* key) const;  // "" if absent
  std::optional<bool> flag(const char* key) const;
  std::optional<double> number(const char* key) const;  // 0 to 1e18
  std::optional<std::int64_t> count(const char* key, std::int64_t least = 1) const;
  std::vector<double> numbers(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  RecordFields object(const char* key) const;

 private:
  std::optional<double> read(const JsonNode& node) const;
  void complain(const JsonNode& node, const std::string& expected) const;

  std::optional<JsonNode> object_;
  Record* record_;
};

/// What the record measured; read_measured.cpp.
void read_measured(const RecordFields& fields, const RecordFields& derived, const RecordFields& parallel,
                   RecordMeasured& measured);

}  // namespace stagecraft
