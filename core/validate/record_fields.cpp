#include "validate/record_fields.hpp"

#include <fmt/format.h>

#include <cmath>

namespace stagecraft {
namespace {

constexpr std::int64_t largest_count = std::int64_t{1} << 40;
constexpr double largest_number = 1e18;

}  // namespace

RecordFields::RecordFields(const std::optional<JsonNode>& object, Record& record) : record_(&record) {
  if (!object || object->is(JsonKind::null)) return;
  if (object->is(JsonKind::object)) {
    object_ = object;
  } else {
    complain(*object, "an object");
  }
}

std::optional<JsonNode> RecordFields::find(const char* key) const {
  if (!object_) return std::nullopt;
  const std::optional<JsonNode> found = object_->find(key);
  return found && !found->is(JsonKind::null) ? found : std::nullopt;
}

RecordFields RecordFields::object(const char* key) const {
  return {find(key), *record_};
}

std::string RecordFields::text(const char* key) const {
  const auto node = find(key);
  if (!node) return {};
  if (!node->is(JsonKind::string)) return complain(*node, "a text"), std::string();
  return std::string(node->raw_string());
}

std::optional<bool> RecordFields::flag(const char* key) const {
  const auto node = find(key);
  if (!node) return std::nullopt;
  if (!node->is(JsonKind::boolean)) return complain(*node, "true or false"), std::nullopt;
  return node->raw_boolean();
}

std::optional<double> RecordFields::number(const char* key) const {
  const auto node = find(key);
  return node ? read(*node) : std::nullopt;
}

std::optional<std::int64_t> RecordFields::count(const char* key, std::int64_t least) const {
  const auto node = find(key);
  if (!node) return std::nullopt;
  const double value = node->is_number() ? node->raw_number() : std::nan("");
  const bool whole =
      value == std::floor(value) && value >= static_cast<double>(least) && value <= static_cast<double>(largest_count);
  if (!whole) return complain(*node, fmt::format("a whole number from {} on", least)), std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::vector<double> RecordFields::numbers(const char* key) const {
  std::vector<double> values;
  const auto node = find(key);
  if (!node) return values;
  if (!node->is(JsonKind::array)) return complain(*node, "a list of numbers"), values;
  for (const JsonNode& element : node->elements()) {
    if (const auto value = read(element)) values.push_back(*value);
  }
  return values;
}

std::vector<std::string> RecordFields::texts(const char* key) const {
  std::vector<std::string> values;
  const auto node = find(key);
  if (!node) return values;
  if (!node->is(JsonKind::array)) return complain(*node, "a list of texts"), values;
  for (const JsonNode& element : node->elements()) {
    if (element.is(JsonKind::string)) {
      values.emplace_back(element.raw_string());
    } else {
      complain(element, "a text");
    }
  }
  return values;
}

std::optional<double> RecordFields::read(const JsonNode& node) const {
  const double value = node.is_number() ? node.raw_number() : std::nan("");
  if (!(value >= 0 && value <= largest_number)) return complain(node, "a number from 0 to 1e18"), std::nullopt;
  return value;
}

void RecordFields::complain(const JsonNode& node, const std::string& expected) const {
  constexpr std::size_t most = 8;
  if (record_->problems.size() >= most) return;
  record_->problems.push_back(fmt::format("{}: got {}, expected {}", node.pointer(), node.dump(40), expected));
}

}  // namespace stagecraft
