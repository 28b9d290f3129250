// Any text after --set is laid over a scenario, or an InputError.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/input_error.hpp"
#include "spec/scenario.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stagecraft;
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const std::string scenario = R"({"model": "gpt-1.7b", "cluster": "box-1gpu", "parallel": {"partition": [12, 12]},
                                   "batch": {"global": 8}})";
  try {
    parse_scenario(scenario, root + "/scenarios/fuzz.json", {std::string(data, data + size)}, library);
  } catch (const InputError&) {
  }
  return 0;
}
