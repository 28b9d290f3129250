#include "base/json_fields.hpp"

#include <catch2/catch.hpp>

#include "refused.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

template <class Read>
auto read(const char* text, Read reader) {
  const JsonDocument document = JsonDocument::from_text(text, "test.json");
  return reader(document.root());
}

template <class Read>
InputProblem refusal(const char* text, Read reader) {
  return refused([&] { read(text, reader); });
}

}  // namespace

TEST_CASE("an integer lies in its range, bounds included") {
  const auto degree = [](const JsonNode& node) { return read_integer(node, 1, 1024); };
  CHECK(read("1", degree) == 1);
  CHECK(read("1024", degree) == 1024);
  CHECK(refusal("0", degree).nearest == "1");
  CHECK(refusal("1025", degree).nearest == "1024");
  CHECK(refusal("-9223372036854775808", degree).nearest == "1");
  CHECK(refusal("1e300", degree).nearest == "1024");
  CHECK(refusal("2.5", degree).nearest == "2");
  CHECK(refusal("8.0", degree).nearest == "8");
  CHECK(refusal("\"8\"", degree).expected == "an integer from 1 to 1024");
  CHECK(refusal("true", degree).got == "true");
}

TEST_CASE("a number lies in its range and may be an integer") {
  const auto fraction = [](const JsonNode& node) { return read_number(node, 0.0, 1.0); };
  CHECK(read("0.5", fraction) == 0.5);
  CHECK(read("1", fraction) == 1.0);
  CHECK(refusal("1.01", fraction).nearest == "1");
  CHECK(refusal("null", fraction).got == "null");
}

TEST_CASE("a choice is one of its words, and a misspelling is answered with the nearest") {
  const auto choice = [](const JsonNode& node) { return read_one_of(node, {"none", "selective", "full"}); };
  CHECK(read("\"full\"", choice) == "full");
  const InputProblem problem = refusal("\"selectiv\"", choice);
  CHECK(problem.nearest == "\"selective\"");
  CHECK(problem.expected == "one of \"none\", \"selective\", \"full\"");
  CHECK(refusal("3", choice).got == "3");
}

TEST_CASE("a bare number is no quantity, and the message says how to write it") {
  const auto memory = [](const JsonNode& node) { return read_bytes(node, {1e6}, {1e15}); };
  CHECK(read("\"80 GiB\"", memory).value == 80.0 * 1073741824.0);
  const InputProblem problem = refusal("80", memory);
  CHECK(problem.got == "the bare number 80");
  CHECK(problem.nearest == "\"80 GiB\" if GiB was meant");
  CHECK(refusal("\"80\"", memory).expected.find("with its unit") != std::string::npos);
  CHECK(refusal("\"0 B\"", memory).nearest == "\"1 MB\"");
  CHECK(refusal("\"-1 GB\"", memory).nearest == "\"1 MB\"");
  CHECK(refusal("\"1e30 B\"", memory).nearest == "\"1 PB\"");
}

TEST_CASE("every dimension has a reader") {
  CHECK(read("\"2 us\"", [](const JsonNode& node) { return read_seconds(node); }).value == Approx(2e-6));
  CHECK(read("\"2 GFLOP\"", [](const JsonNode& node) { return read_flops(node); }).value == 2e9);
  CHECK(read("\"8 Gb/s\"", [](const JsonNode& node) { return read_bytes_per_second(node); }).value == 1e9);
  CHECK(read("\"1 TFLOP/s\"", [](const JsonNode& node) { return read_flops_per_second(node); }).value == 1e12);
}

TEST_CASE("lists are read element by element") {
  CHECK(read("[1, 2, 3]", [](const JsonNode& node) { return read_integers(node, 0, 9); }) ==
        std::vector<std::int64_t>{1, 2, 3});
  CHECK(refusal("[1, 2, 30]", [](const JsonNode& node) { return read_integers(node, 0, 9); }).pointer == "/2");
  CHECK(refusal("7", [](const JsonNode& node) { return read_integers(node, 0, 9); }).expected == "a list");
  CHECK(read("[0.5]", [](const JsonNode& node) { return read_numbers(node, 0, 1); }) == std::vector<double>{0.5});
  CHECK(read("[\"a\"]", read_strings) == std::vector<std::string>{"a"});
}

TEST_CASE("strings and booleans are themselves") {
  CHECK(read("\"\"", read_string).empty());
  CHECK(refusal("\"\"", read_nonempty_string).expected == "a string that is not empty");
  CHECK(read("true", read_boolean));
  CHECK(refusal("1", read_boolean).expected == "true or false");
}

TEST_CASE("unknown keys are refused all at once, each with the nearest key") {
  const JsonDocument document =
      JsonDocument::from_text(R"({"$schema": "", "tensr": 1, "data": 2, "foo": 3})", "test.json");
  try {
    only_keys(document.root(), {"tensor", "data"});
    FAIL("nothing was refused");
  } catch (const InputError& error) {
    REQUIRE(error.problems().size() == 2);
    CHECK(error.problems()[0].pointer == "/tensr");
    CHECK(error.problems()[0].nearest == "\"tensor\"");
    CHECK(error.problems()[1].got == "the unknown key \"foo\"");
    CHECK(error.problems()[1].nearest.empty());
  }
}
