#include "trace/json_stream.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "base/input_error.hpp"

using namespace stagecraft;

namespace {

std::string file_with(const std::string& text) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("stagecraft-json-stream-" + std::to_string(::getpid()) + ".json"))
          .string();
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// What is wrong with a text of which everything is skipped; "" if it is JSON.
std::string refusal_of(const std::string& text) {
  try {
    JsonStream in(file_with(text), "JSON");
    in.skip();
    in.end();
  } catch (const InputError& error) {
    return error.problems().front().got;
  }
  return "";
}

std::string string_of(const std::string& text) {
  JsonStream in(file_with(text), "JSON");
  return std::string(in.string());
}

/// Everything as nlohmann's library keeps it.
nlohmann::json read(JsonStream& in) {
  nlohmann::json value;
  switch (in.type()) {
    case JsonStream::Type::object:
      value = nlohmann::json::object();
      in.object([&](std::string_view key) {
        const std::string name(key);
        value[name] = read(in);
      });
      return value;
    case JsonStream::Type::array:
      value = nlohmann::json::array();
      in.array([&] { value.push_back(read(in)); });
      return value;
    case JsonStream::Type::string:
      return in.string();
    case JsonStream::Type::number:
      return in.number().value;
    case JsonStream::Type::word:
      in.skip();
      return nullptr;
  }
  return value;
}

const char* const sample = R"( {"a": [1, -2.5e3, 0.1, 12345678901234567890, 1e-400, {}, [], [[{"b": null}]]],
  "\u00e9\ud83d\ude00\n\\\"\/": "plain", "ü€😀": true, "c": false, "": "" } )";

}  // namespace

TEST_CASE("a stream of JSON holds what the library's reader finds") {
  JsonStream in(file_with(sample), "JSON");
  nlohmann::json expected = nlohmann::json::parse(sample);
  expected["ü€😀"] = expected["c"] = nullptr;  // words are skipped
  for (nlohmann::json& value : expected["a"]) {
    if (value.is_number()) value = value.get<double>();
  }
  CHECK(read(in) == expected);
  in.end();
}

TEST_CASE("texts damaged at random are JSON exactly where the library's reader says so") {
  std::mt19937 random(7);
  const std::string text = sample, bytes = "{}[]\",:\\u0-+.e19tfn \x01\xc3\xa9\xf0\xff";
  int valid = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = text;
    for (auto k = random() % 3; k < 3; ++k) {
      const std::size_t at = random() % damaged.size();
      const char byte = bytes[random() % bytes.size()];
      switch (random() % 4) {
        case 0:
          damaged[at] = byte;
          break;
        case 1:
          damaged.insert(at, 1, byte);
          break;
        case 2:
          damaged.erase(at, 1 + random() % 3);
          break;
        default:
          std::swap(damaged[at], damaged[random() % damaged.size()]);
      }
    }
    CAPTURE(damaged);
    const bool expected = nlohmann::json::accept(damaged);
    valid += expected ? 1 : 0;
    REQUIRE(refusal_of(damaged).empty() == expected);
  }
  CHECK(valid > 1000);
}

TEST_CASE("what is no JSON is refused with the byte") {
  CHECK(refusal_of("") == "the file ends at byte 0");
  CHECK(refusal_of("[1, 2") == "the file ends at byte 5");
  CHECK(refusal_of("[1 2]") == "no JSON: '2' at byte 3");
  CHECK(refusal_of("[1,]") == "no JSON: ']' at byte 3");
  CHECK(refusal_of("{\"a\" 1}") == "no JSON: '1' at byte 5");
  CHECK(refusal_of("[1] x") == "no JSON: 'x' at byte 4");
  CHECK(refusal_of("[}") == "no JSON: '}' at byte 1");
  CHECK(refusal_of("[nul]") == "no JSON: 'n' at byte 1");
  CHECK(refusal_of("[NaN]") == "no JSON: 'N' at byte 1");
  CHECK(refusal_of("[\"a\nb\"]") == "a control character in a string at byte 3");
  CHECK(refusal_of("[\"\\x\"]") == "no escape of JSON in a string at byte 2");
  CHECK(refusal_of("[\"\\ud800\"]").find("half of a surrogate pair") == 0);
  CHECK(refusal_of("[\"\xff\"]") == "a string that is not UTF-8 at byte 2");
  CHECK(refusal_of("[01]").find("no number of JSON") == 0);
  CHECK(refusal_of("[1e999]").find("no number of JSON that a double can hold: 1e999") == 0);
  CHECK(refusal_of(std::string("[1\0]", 4)) == "no JSON: 0x00 at byte 2");
}

TEST_CASE("nesting is refused where it is one level too deep") {
  const std::string open(JsonStream::deepest, '['), close(JsonStream::deepest, ']');
  CHECK(refusal_of(open + close).empty());
  CHECK(refusal_of("[" + open + close + "]") == "more than 200 levels of nesting at byte 200");
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"\":";
  CHECK(refusal_of(objects).find("more than 200 levels") == 0);
}

TEST_CASE("a string of 16 MiB is the longest") {
  const std::string text(JsonStream::longest, 'x');
  CHECK(string_of("\"" + text + "\"") == text);
  CHECK(refusal_of("\"" + text + text + "\"").find("more than 16 MiB") != std::string::npos);
  CHECK(refusal_of(std::string(2 * JsonStream::longest, '1')).find("more than 16 MiB") != std::string::npos);
  std::string escapes = "\"";
  for (std::size_t i = 0; i < JsonStream::longest + 2; ++i) escapes += "\\n";
  CHECK(refusal_of(escapes).find("more than 16 MiB") != std::string::npos);
}

TEST_CASE("values lie anywhere across the pieces in which a file is read") {
  const std::string value = R"(["ab\u00e9cü€😀d", -123.456e2, true, {"key\n": 7}] )";
  const nlohmann::json expected = nlohmann::json::parse(R"(["abécü€😀d", -12345.6, null, {"key\n": 7.0}])");
  for (std::size_t before = 0; before < value.size(); ++before) {
    const std::string padding((std::size_t{256} << 10) - before, ' ');
    JsonStream in(file_with(padding + value), "JSON");
    CAPTURE(before);
    REQUIRE(read(in) == expected);
    in.end();
  }
}

TEST_CASE("numbers are the nearest doubles, and whole numbers exact") {
  CHECK(parse_json_number("0.1")->value == 0.1);
  CHECK(parse_json_number("-0")->value == 0);
  CHECK(std::signbit(parse_json_number("-0.0")->value));
  CHECK(parse_json_number("1727379824123456.789")->value == 1727379824123456.789);
  CHECK(parse_json_number("9007199254740993")->value == 9007199254740992.0);  // a tie goes to even
  CHECK(parse_json_number("9007199254740993")->whole == 9007199254740993);
  CHECK(parse_json_number("-9223372036854775808")->whole == INT64_MIN);
  CHECK(parse_json_number("18446744073709551615")->whole == INT64_MAX);  // a flow's id: bits 0 to 62
  CHECK(parse_json_number("1e30")->whole == 0);
  CHECK(parse_json_number("-7.9")->whole == -7);
  CHECK(parse_json_number("1.7976931348623157e308")->value == 1.7976931348623157e308);
  CHECK(parse_json_number("4.9e-324")->value == 4.9e-324);
  CHECK(parse_json_number("0." + std::string(400, '0') + "1")->value == 0);
  CHECK(parse_json_number("0e999999999999999999999")->value == 0);
  CHECK(parse_json_number("1e-999999999999999999999")->value == 0);
  CHECK_FALSE(parse_json_number("1e999999999999999999999"));
  CHECK_FALSE(parse_json_number(std::string(400, '9')));
  for (const char* const wrong : {"", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1.e5", "1-2", "0x10", "--1"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_json_number(wrong));
  }
}
