// Any text is a configuration of some framework, a log, or an InputError; what is imported is JSON of a scenario.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/input_error.hpp"
#include "exchange/exchange.hpp"
#include "exchange/training_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stagecraft;
  const std::string text(data, data + size);
  for (const Form& form : import_forms()) {
    try {
      form.import(text, "fuzz", {});
    } catch (const InputError&) {
    }
  }
  try {
    observe_log(text, "fuzz");
  } catch (const InputError&) {
  }
  return 0;
}
