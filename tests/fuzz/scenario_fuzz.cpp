// Any text is a scenario or an InputError.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/input_error.hpp"
#include "spec/scenario.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stagecraft;
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const std::string text(data, data + size);
  try {
    parse_scenario(text, root + "/scenarios/fuzz.json", {}, library);
  } catch (const InputError&) {
  }
  return 0;
}
