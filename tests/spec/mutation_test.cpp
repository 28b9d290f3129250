#include <algorithm>
#include <cstdint>

#include "base/file_io.hpp"
#include "spec_test.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

// xorshift64*: the same documents on every machine.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed * 2654435769u + 1) {}
  std::size_t below(std::size_t bound) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::size_t>((state_ * 2685821657736338717u) >> 33) % bound;
  }

 private:
  std::uint64_t state_;
};

const std::vector<std::string> pieces = {"0",
                                         "-1",
                                         "1e308",
                                         "99999999999999999999",
                                         "null",
                                         "true",
                                         "\"\"",
                                         "[]",
                                         "{}",
                                         "\"a\"",
                                         "\"80 GiB\"",
                                         "\"selene\"",
                                         "\"eos\"",
                                         "\"gpt-145b\"",
                                         "\"../x\"",
                                         "{\"extends\":\"selene\"}",
                                         "2.5",
                                         ",",
                                         ":",
                                         "\"extends\":",
                                         "{",
                                         "}",
                                         "\\u0000",
                                         "\xff",
                                         "\"gpu{0..4095}\"",
                                         "\"1 s\"",
                                         "[[[[",
                                         "1.",
                                         "\"schedule\":",
                                         "\"nodes\":1048576,"};

std::string mutated(std::string text, Generator& random) {
  const std::size_t edits = 1 + random.below(3);
  for (std::size_t edit = 0; edit < edits; ++edit) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = std::min(random.below(12), text.size() - at);
    switch (random.below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, pieces[random.below(pieces.size())]);
        break;
      case 2:
        text.replace(at, length, pieces[random.below(pieces.size())]);
        break;
      default:
        text.insert(at, text.substr(random.below(text.size() + 1), random.below(60)));
        break;
    }
    if (text.empty()) text = "{";
  }
  return text;
}

// Replaces the value after a random colon, so that the text stays JSON and the readers get to see it.
std::string with_other_value(std::string text, Generator& random) {
  std::vector<std::size_t> colons;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == ':') colons.push_back(i);
  const std::size_t begin = colons[random.below(colons.size())] + 1;
  const std::size_t end = text.find_first_of(",}", begin);
  return text.replace(begin, end - begin, " " + pieces[random.below(pieces.size())]);
}

}  // namespace

TEST_CASE("a scenario that was damaged anywhere is refused or loads, and nothing else happens") {
  const std::vector<std::string> seeds = {
      small_scenario(), read_file(source_file("scenarios/gpt-145b-selene.json")),
      read_file(source_file("scenarios/llama-2-7b-4x4090.json")),
      R"({"model": {"name": "m", "hidden": 64, "blocks": 2, "vocabulary": 10, "sequence_length": 4,
          "attention": {"heads": 4}, "mlp": {"ffn_hidden": 8}}, "cluster": {"extends": "box-1gpu", "gpu": {"extends":
          "A100-SXM4-80GB", "peak": {"fp8": "1 TFLOP/s"}}, "node": {"devices": [{"kind": "gpu", "name": "gpu{0..7}"}],
          "wires": [{"pairs": [["gpu0", "gpu1"]], "kind": "pcie", "nominal": "1 GB/s", "latency": "1 us", "source": "s"}]}},
          "parallel": {"partition": [1, 1]}, "batch": {"global": 8}})"};
  constexpr int documents = 3000;
  int loaded = 0;
  int refusals = 0;
  for (int i = 0; i < documents; ++i) {
    Generator random(static_cast<std::uint64_t>(i) + 1);
    const std::string& seed = seeds[static_cast<std::size_t>(i) % seeds.size()];
    const std::string text = i % 2 == 0 ? mutated(seed, random) : with_other_value(seed, random);
    try {
      parsed(text);
      ++loaded;
    } catch (const InputError& error) {
      ++refusals;
      if (std::string(error.what()).empty()) FAIL("a refusal without a message: " << text);
    }
  }
  CHECK(loaded + refusals == documents);
  CHECK(loaded > documents / 100);
  CHECK(refusals > documents / 2);
}
