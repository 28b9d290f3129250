#include "spec/object_reader.hpp"

#include <fmt/format.h>

#include <utility>

namespace stagecraft {

void Reading::throw_problems() const {
  constexpr std::size_t most_reported = 20;
  if (problems.empty()) return;
  std::vector<InputProblem> reported = problems;
  if (reported.size() > most_reported) reported.resize(most_reported);
  throw InputError(reported);
}

ObjectReader::ObjectReader(const JsonNode& object, std::string where, Reading& reading)
    : object_(object), where_(std::move(where)), reading_(reading) {
  if (!object.is(JsonKind::object)) object.fail(to_text(JsonKind::object));
}

void ObjectReader::note(const char* key, std::string value, std::string reason) {
  reading_.defaults.push_back({fmt::format("{}/{}", where_, key), std::move(value), std::move(reason)});
}

void ObjectReader::missing(const char* key) {
  reading_.attempt([&] { object_.at(key); });
}

void ObjectReader::finish() {
  reading_.attempt([&] { only_keys(object_, keys_); });
}

std::string text_of(std::int64_t value) {
  return std::to_string(value);
}
std::string text_of_bool(bool value) {
  return value ? "true" : "false";
}
std::string text_of_number(double value) {
  return fmt::format("{}", value);
}

}  // namespace stagecraft
