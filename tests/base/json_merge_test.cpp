#include "base/json_merge.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file_io.hpp"
#include "refused.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

namespace fs = std::filesystem;

std::string merged(const char* below, const char* above, const std::vector<ShortForm>& forms = {}) {
  const JsonDocument lower = JsonDocument::from_text(below, "below.json");
  const JsonDocument upper = JsonDocument::from_text(above, "above.json");
  return merge(lower.root(), upper.root(), forms).root().dump();
}

// Files of one test; names resolve beside each other.
class Files {
 public:
  explicit Files(const std::string& name) : directory_(fs::path(STAGECRAFT_BINARY_DIR) / "json_merge" / name) {
    fs::create_directories(directory_);
  }
  std::string add(const std::string& name, const std::string& text) const {
    write_file_whole((directory_ / name).string(), text);
    return (directory_ / name).string();
  }
  JsonDocument load(const std::string& name) const {
    return load_extended((directory_ / name).string(), [this](const JsonNode& node) {
      return (directory_ / std::string(node.raw_string())).string();
    });
  }

 private:
  fs::path directory_;
};

const std::vector<ShortForm> cluster_form = {
    {"/cluster", "extends", {std::vector<std::string>{"extends"}, std::vector<std::string>{"gpu", "node"}}}};

}  // namespace

TEST_CASE("objects merge member by member and everything else is replaced") {
  CHECK(merged(R"({"a":1,"b":{"c":2,"d":3}})", R"({"b":{"d":4,"e":5},"f":6})") ==
        R"({"a":1,"b":{"c":2,"d":4,"e":5},"f":6})");
  CHECK(merged(R"({"a":[1,2,3]})", R"({"a":[4]})") == R"({"a":[4]})");
  CHECK(merged(R"({"a":{"b":1}})", R"({"a":7})") == R"({"a":7})");
  CHECK(merged(R"({"a":7})", R"({"a":{"b":1}})") == R"({"a":{"b":1}})");
  CHECK(merged(R"({"a":"text"})", R"({"a":null})") == R"({"a":null})");
}

TEST_CASE("an object over a short form merges with its long form") {
  CHECK(merged(R"({"cluster":"selene"})", R"({"cluster":{"nodes":4}})", cluster_form) ==
        R"({"cluster":{"extends":"selene","nodes":4}})");
  CHECK(merged(R"({"cluster":{"extends":"selene","nodes":4}})", R"({"cluster":"eos"})", cluster_form) ==
        R"({"cluster":"eos"})");
  CHECK(merged(R"({"cluster":{"extends":"selene","nodes":4}})", R"({"cluster":{"nodes":8}})", cluster_form) ==
        R"({"cluster":{"extends":"selene","nodes":8}})");
}

TEST_CASE("an object that extends something else starts anew") {
  CHECK(merged(R"({"cluster":{"extends":"selene","nodes":4}})", R"({"cluster":{"extends":"eos"}})", cluster_form) ==
        R"({"cluster":{"extends":"eos"}})");
}

TEST_CASE("an object that is complete by itself replaces a short form") {
  CHECK(merged(R"({"cluster":"selene"})", R"({"cluster":{"gpu":1,"node":2}})", cluster_form) ==
        R"({"cluster":{"gpu":1,"node":2}})");
  CHECK(merged(R"({"cluster":"selene"})", R"({"cluster":{"gpu":1}})", cluster_form) ==
        R"({"cluster":{"extends":"selene","gpu":1}})");
}

TEST_CASE("after a merge every value still points at the file it was written in") {
  const JsonDocument below = JsonDocument::from_text("{\n \"a\": 1,\n \"b\": {\"c\": 2}}", "below.json");
  const JsonDocument above = JsonDocument::from_text("{\"b\": {\n  \"d\": 3}}", "above.json");
  const JsonDocument result = merge(below.root(), above.root());
  CHECK(result.root().at("a").file() == "below.json");
  CHECK(result.root().at("a").line() == 2);
  CHECK(result.root().at("b").at("c").file() == "below.json");
  CHECK(result.root().at("b").at("d").file() == "above.json");
  CHECK(result.root().at("b").at("d").line() == 2);
  CHECK(result.root().at("b").at("d").pointer() == "/b/d");
}

TEST_CASE("a copy of a part keeps the pointers of the whole file") {
  const JsonDocument document =
      JsonDocument::from_text(R"({"model": {"extends": "x", "mlp": {"bias": 3}}})", "run.json");
  const JsonDocument copy = copy_of(document.root().at("model"), {"extends"});
  CHECK(copy.root().dump() == R"({"mlp":{"bias":3}})");
  CHECK(copy.root().at("mlp").at("bias").pointer() == "/model/mlp/bias");
  CHECK(copy.root().at("mlp").at("bias").column() == 44);
}

TEST_CASE("files extend files, and the nearest value wins") {
  const Files files("chain");
  files.add("base.json", R"({"a": 1, "b": 1, "c": 1})");
  files.add("middle.json", R"({"extends": "base.json", "b": 2, "c": 2})");
  files.add("top.json", R"({"extends": "middle.json", "c": 3})");
  const JsonDocument document = files.load("top.json");
  CHECK(document.root().dump() == R"({"a":1,"b":2,"c":3})");
  CHECK(contains(document.root().at("b").file(), "middle.json"));
}

TEST_CASE("files that extend each other in a circle are refused with the chain") {
  const Files files("cycle");
  files.add("a.json", R"({"extends": "b.json"})");
  files.add("b.json", R"({"extends": "c.json"})");
  files.add("c.json", "{\n\"extends\": \"a.json\"}");
  const InputProblem problem = refused([&] { files.load("a.json"); });
  CHECK(contains(problem.file, "c.json"));
  CHECK(problem.line == 2);
  CHECK(problem.pointer == "/extends");
  CHECK(contains(problem.got, "a.json -> "));
  CHECK(contains(problem.got, "c.json -> "));
  files.add("self.json", R"({"extends": "./self.json"})");
  CHECK(contains(refused([&] { files.load("self.json"); }).got, "the cycle"));
}

TEST_CASE("a chain may hold 32 files and no more") {
  const Files files("long");
  files.add("0.json", "{\"a\": 1}");
  for (int i = 1; i <= 32; ++i)
    files.add(std::to_string(i) + ".json", "{\"extends\": \"" + std::to_string(i - 1) + ".json\"}");
  CHECK_NOTHROW(files.load("31.json"));
  CHECK(contains(refused([&] { files.load("32.json"); }).expected, "at most 32"));
}

TEST_CASE("extends must be a string and a file must be an object") {
  const Files files("types");
  files.add("number.json", R"({"extends": 3})");
  files.add("list.json", "[1]");
  files.add("over-list.json", R"({"extends": "list.json"})");
  CHECK(refused([&] { files.load("number.json"); }).pointer == "/extends");
  CHECK(refused([&] { files.load("over-list.json"); }).expected == "an object");
}

TEST_CASE("the option --set takes dotted paths, JSON pointers, JSON values and plain words") {
  CHECK(parse_override("parallel.tensor=8").root().dump() == R"({"parallel":{"tensor":8}})");
  CHECK(parse_override("/parallel/tensor=8").root().dump() == R"({"parallel":{"tensor":8}})");
  CHECK(parse_override("/a~1b/c~0d=1").root().dump() == R"({"a/b":{"c~d":1}})");
  CHECK(parse_override("a[2].b=1").root().dump() == parse_override("a.2.b=1").root().dump());
  CHECK(parse_override("a[2][0]=1").root().dump() == parse_override("a.2.0=1").root().dump());
  CHECK(parse_override("a[x]=1").root().dump() == R"({"a[x]":1})");
  CHECK(parse_override("cluster=eos").root().dump() == R"({"cluster":"eos"})");
  CHECK(parse_override("gradient_bucket=80 MB").root().dump() == R"({"gradient_bucket":"80 MB"})");
  CHECK(parse_override("schedule={\"name\":\"zb-h1\"}").root().dump() == R"({"schedule":{"name":"zb-h1"}})");
  CHECK(parse_override("parallel.partition=[1,2]").root().dump() == R"({"parallel":{"partition":[1,2]}})");
  CHECK(parse_override("steps=\"3\"").root().dump() == R"({"steps":"3"})");
  CHECK(parse_override("name=a=b").root().dump() == R"({"name":"a=b"})");
  CHECK(parse_override("name=").root().dump() == R"({"name":""})");
  CHECK(parse_override("a.b={\"c\":{\"d\":1}}").root().at("a").at("b").at("c").at("d").pointer() == "/a/b/c/d");
}

TEST_CASE("a value of --set says so in messages") {
  const JsonDocument document = parse_override("parallel.tensor=0");
  const InputProblem problem = document.root().at("parallel").at("tensor").problem("1");
  CHECK(problem.file == "--set");
  CHECK(problem.line == 0);
  CHECK(problem.pointer == "/parallel/tensor");
}

TEST_CASE("a --set that names no path or holds broken JSON is refused") {
  for (const char* text : {"", "parallel.tensor", "=8", ".a=1", "a..b=1", "a.=1", "a={", "a=[1", "a=\"x"}) {
    CAPTURE(text);
    CHECK(refused([&] { parse_override(text); }).file == "--set");
  }
  std::string deep = "a";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  CHECK(refused([&] { parse_override(deep + "=1"); }).file == "--set");
}

TEST_CASE("the option --set reaches single elements of a list, and no others") {
  const auto set = [](const char* below, const char* override_text) {
    const JsonDocument lower = JsonDocument::from_text(below, "below.json");
    const JsonDocument upper = parse_override(override_text);
    return merge(lower.root(), upper.root()).root().dump();
  };
  CHECK(set(R"({"a":[1,2,3]})", "a.1=5") == R"({"a":[1,5,3]})");
  CHECK(set(R"({"a":[{"b":1,"c":2},3]})", "a.0.b=7") == R"({"a":[{"b":7,"c":2},3]})");
  CHECK(set(R"({"a":[[1,2],[3,4]]})", "/a/1/0=9") == R"({"a":[[1,2],[9,4]]})");
  CHECK(set(R"({"a":[1,2]})", "a=[]") == R"({"a":[]})");
  CHECK(set(R"({"a":[1,2]})", R"(a={})") == R"({"a":{}})");  // an object of its own, refused by whoever reads it
  for (const char* wrong : {"a.3=5", "a.-1=5", "a.01=5", "a.x=5", "a.1.2=5.5.5", "a.99999999999999999999=1"}) {
    CAPTURE(wrong);
    if (std::string(wrong) == "a.1.2=5.5.5") {
      CHECK(set(R"({"a":[1,2,3]})", wrong) == R"({"a":[1,{"2":"5.5.5"},3]})");  // the element is no list
      continue;
    }
    const InputProblem problem = refused([&] { set(R"({"a":[1,2,3]})", wrong); });
    CHECK(problem.file == "--set");
    CHECK(problem.nearest == "2");
    CHECK(contains(problem.expected, "0 to 2"));
  }
  CHECK(contains(refused([&] { set(R"({"a":[]})", "a.0=1"); }).expected, "empty"));
  // In a file an object over a list replaces it.
  CHECK(merged(R"({"a":[1,2]})", R"({"a":{"0":5}})") == R"({"a":{"0":5}})");
}
