// Editing one value leaves every other byte of a scenario as it was.
#include "gui/models/json_edit.hpp"

#include <catch2/catch.hpp>

#include "base/input_error.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

constexpr std::array forms{ShortKey{"/cluster", "extends"}, ShortKey{"/schedule", "name"}};

const char* const text = R"({
  "note": "kept as it is: {\"a\": [1, 2]}",
  "cluster": "selene",
  "parallel": {"tensor": 8,   "pipeline": 4},
  "empty": {}
}
)";

std::string replaced(std::string from, const std::string& what, const std::string& with) {
  return from.replace(from.find(what), what.size(), with);
}

}  // namespace

TEST_CASE("setting a value changes that value and nothing else") {
  CHECK(with_value(text, "/parallel/tensor", "16") == replaced(text, "8, ", "16, "));
  CHECK(with_value(text, "/parallel/pipeline", "2") == replaced(text, "4}", "2}"));
}

TEST_CASE("a new member is written behind the last one, laid out like its neighbours") {
  CHECK(with_value(text, "/parallel/data", "3") == replaced(text, "4}", "4, \"data\": 3}"));
  CHECK(with_value(text, "/steps", "2") == replaced(text, "\"empty\": {}", "\"empty\": {},\n  \"steps\": 2"));
  CHECK(with_value(text, "/empty/x", "1") == replaced(text, "{}", "{\"x\": 1}"));
  CHECK(with_value("{}", "/a/b", "1") == R"({"a": {"b": 1}})");
}

TEST_CASE("a short form is spelt out when one of its members is set") {
  CHECK(with_value(text, "/cluster/nodes", "4", forms) ==
        replaced(text, "\"selene\"", R"({"extends": "selene", "nodes": 4})"));
}

TEST_CASE("removing a value removes the objects that hold nothing else") {
  CHECK(without_value(text, "/parallel/pipeline") == replaced(text, ",   \"pipeline\": 4", ""));
  CHECK(without_value(text, "/parallel/tensor") == replaced(text, "\"tensor\": 8,   ", ""));
  CHECK(without_value(R"({"a": 1, "b": {"c": 2}})", "/b/c") == R"({"a": 1})");
  CHECK(without_value(R"({"b": {"c": 2}})", "/b/c") == "{}");
  CHECK(without_value(text, "/nothing/there") == text);
}

TEST_CASE("values are found by their pointer, escaped keys included") {
  CHECK(value_at(text, "/parallel/tensor") == "8");
  CHECK(value_at(text, "/cluster") == "\"selene\"");
  CHECK(value_at(text, "/cluster/nodes").empty());
  CHECK(value_at(R"({"a/b": {"c~d": 5}})", "/a~1b/c~0d") == "5");
  CHECK(value_at(R"({"\u0061": 7})", "/a") == "7");
}

TEST_CASE("text that is no JSON object is refused") {
  CHECK_THROWS_AS(with_value("[1]", "/a", "1"), InputError);
  CHECK_THROWS_AS(with_value("{\"a\": ", "/a", "1"), InputError);
  CHECK_THROWS_AS(without_value("", "/a"), InputError);
}
