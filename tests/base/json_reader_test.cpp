#include "base/json_reader.hpp"

#include <catch2/catch.hpp>

#include "refused.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

JsonDocument parse(std::string_view text) {
  return JsonDocument::from_text(text, "test.json");
}

InputProblem refusal(std::string_view text) {
  return refused([&] { parse(text); });
}

}  // namespace

TEST_CASE("every value knows its line, column and pointer") {
  const JsonDocument document = parse("{\n  \"a\": 1,\n  \"b\": [true,\n        {\"c/d\": \"x\"}]\n}\n");
  const JsonNode a = document.root().at("a");
  CHECK(a.line() == 2);
  CHECK(a.column() == 8);
  CHECK(a.pointer() == "/a");
  const JsonNode c = document.root().at("b").elements()[1].at("c/d");
  CHECK(c.line() == 4);
  CHECK(c.column() == 17);
  CHECK(c.pointer() == "/b/1/c~1d");
  CHECK(c.key() == "c/d");
  CHECK(c.file() == "test.json");
  CHECK(document.root().line() == 1);
  CHECK(document.root().column() == 1);
  CHECK(document.root().pointer().empty());
}

TEST_CASE("columns count characters, and strings with escapes and brackets do not confuse them") {
  const JsonDocument document = parse(R"({"ü": "\"}]{[\\", "n": 5})");
  CHECK(document.root().at("n").column() == 24);
  CHECK(document.root().at("ü").raw_string() == "\"}]{[\\");
}

TEST_CASE("a byte-order mark does not shift columns") {
  CHECK(parse("\xEF\xBB\xBF{\"a\": 1}").root().at("a").column() == 7);
}

TEST_CASE("members keep the order of the file and scalars their kind") {
  const JsonDocument document = parse(R"({"z": null, "y": false, "x": -3, "w": 2.5, "v": "s", "u": [], "t": {}})");
  std::string keys;
  for (const JsonNode& member : document.root().members()) keys += member.key();
  CHECK(keys == "zyxwvut");
  CHECK(document.root().at("z").kind() == JsonKind::null);
  CHECK(document.root().at("y").kind() == JsonKind::boolean);
  CHECK(document.root().at("x").raw_integer() == -3);
  CHECK(document.root().at("w").raw_number() == 2.5);
  CHECK(document.root().at("u").elements().empty());
  CHECK(document.root().size() == 7);
  CHECK(document.root().find("none") == std::nullopt);
}

TEST_CASE("a document prints as compact JSON that reads back") {
  const std::string text = R"({"a":[1,2.5,"x\"\\\u0001",true,null],"b":{}})";
  CHECK(parse(text).root().dump() == text);
  CHECK(parse(text).root().dump(8) == R"({"a":[1,...)");
}

TEST_CASE("malformed JSON is refused with its place") {
  CHECK(refusal("{\n  \"a\": 1,\n}").line == 3);
  CHECK(contains(refusal("{\n  \"a\": 1,\n}").expected, "no comma before a closing bracket"));
  CHECK(refusal("{\"a\" 1}").line == 1);
  CHECK(refusal("[1, 2").got == "the end of the text");
  CHECK(contains(refusal("[1] 2").got, "2"));
  CHECK(refusal("").got == "an empty text");
  CHECK(refusal(" \n").got == "an empty text");
  CHECK_FALSE(refusal("{'a': 1}").got.empty());
  CHECK_FALSE(refusal("[01]").got.empty());
  CHECK_FALSE(refusal("[NaN]").got.empty());
  CHECK(contains(refusal("[1e999]").got, "1e999"));
}

TEST_CASE("a key may stand only once in its object") {
  const InputProblem problem = refusal("{\"a\": 1,\n \"b\": {\"x\": 1,\n  \"x\": 2}}");
  CHECK(problem.line == 3);
  CHECK(problem.pointer == "/b/x");
  CHECK(contains(problem.got, "\"x\" a second time"));
  CHECK(contains(problem.expected, "line 2"));
  CHECK_NOTHROW(parse(R"([{"a": 1}, {"a": 1}])"));
}

TEST_CASE("bytes that are not text are refused") {
  CHECK(refusal(std::string_view("[1,\0 2]", 7)).got == "a NUL byte");
  CHECK(refusal("[\"\xff\"]").got == "text that is not UTF-8");
  CHECK(refusal("[\"\xed\xa0\x80\"]").got == "text that is not UTF-8");  // half a surrogate pair
}

TEST_CASE("nesting is allowed to depth 64 and no deeper") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK_NOTHROW(parse(nested(64)));
  CHECK(contains(refusal(nested(65)).got, "deeper than 64"));
  CHECK(contains(refusal(nested(1000000)).got, "deeper than 64"));
}

TEST_CASE("the number of values is bounded") {
  std::string text = "[";
  for (std::size_t i = 0; i < (std::size_t{4} << 20); ++i) text += "1,";
  text += "1]";
  CHECK(contains(refusal(text).got, "more than 4194304 values"));
}

TEST_CASE("integers beyond 64 bits become numbers") {
  const JsonDocument document = parse("[9223372036854775807, 9223372036854775808, -9223372036854775808]");
  CHECK(document.root().elements()[0].kind() == JsonKind::integer);
  CHECK(document.root().elements()[1].kind() == JsonKind::number);
  CHECK(document.root().elements()[2].kind() == JsonKind::integer);
}

TEST_CASE("a missing key is refused with the pointer it would have") {
  const JsonDocument document = parse("{\"a\": {}}");
  const InputProblem problem = refused([&] { document.root().at("a").at("b"); });
  CHECK(problem.pointer == "/a/b");
  CHECK(problem.line == 1);
  CHECK(problem.expected == "the key \"b\"");
}

TEST_CASE("asking a scalar for members is refused") {
  const JsonDocument document = parse("[1]");
  CHECK(refused([&] { document.root().elements()[0].find("a"); }).expected == "an object");
  CHECK(refused([&] { document.root().elements()[0].elements(); }).expected == "a list");
}

TEST_CASE("a missing file is refused by its name") {
  const InputProblem problem = refused([] { JsonDocument::from_file("no/such.json"); });
  CHECK(problem.file == "no/such.json");
  CHECK(contains(problem.got, "No such file"));
}

TEST_CASE("a syntax error names the word at fault, at its place, and what JSON has instead") {
  struct Row {
    const char* text;
    int column;
    const char* got;
    const char* expected;  // a part of it
  };
  for (const Row& row : {
           Row{R"({"a": 1,})", 9, "'}'", "no comma before a closing bracket"},
           Row{R"([1,])", 4, "']'", "no comma before a closing bracket"},
           Row{R"({"a" 1})", 6, "'1'", "valid JSON"},
           Row{R"({"a": tru})", 7, "'tru'", "true, false"},
           Row{R"({"a": True})", 7, "'True'", "true, false"},
           Row{R"({"a": None, "b": 1})", 7, "'None'", "null"},
           Row{R"({"a": NaN})", 7, "'NaN'", "a value"},
           Row{R"({"a": -Infinity})", 7, "'-Infinity'", "a value"},
           Row{R"({"a": 01})", 7, "'01'", "a value"},
           Row{R"({"a": .5})", 7, "'.5'", "a value"},
           Row{R"({"a": +1})", 7, "'+1'", "a value"},
           Row{R"({"a": -})", 7, "'-'", "a value"},
           Row{R"({'a': 1})", 2, "''a''", "double quotes"},
           Row{R"({a: 1})", 2, "'a'", "key"},
           Row{R"({"a": 1 "b": 2})", 9, "'\"b\"'", "valid JSON"},
           Row{R"({"a": 1}})", 9, "'}'", "the document is complete"},
           Row{R"({"a": 1 // why)", 9, "'//'", "no comments"},
           Row{R"(# why)", 1, "'#'", "no comments"},
           Row{R"({"a": "x)", 9, "a string without its closing quote", "a string"},
           Row{R"({"a": "\q"})", 9, "a string that is broken here: forbidden character after backslash", "a string"},
           Row{R"({"a": [1, 2)", 12, "the end of the text", "the rest"},
           Row{R"({"a": 1e999})", 7, "the number 1e999", "1.8e308"},
           Row{"{\"a\": \"\xff\"}", 8, "text that is not UTF-8", "UTF-8"},
       }) {
    CAPTURE(row.text);
    const InputProblem problem = refusal(row.text);
    CHECK(problem.line == 1);
    CHECK(problem.column == row.column);
    CHECK(problem.got == row.got);
    CHECK(contains(problem.expected, row.expected));
  }
}

TEST_CASE("a long run of bytes that continue no letter is told like any other wrong word") {
  for (const std::size_t bytes : {39, 40, 41, 4096}) {
    CAPTURE(bytes);
    CHECK_THROWS_AS(JsonDocument::from_text("{\"a\": " + std::string(bytes, '\x80') + "}", "x.json"), InputError);
  }
}
