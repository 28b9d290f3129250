// Any bytes are a trace, in stagecraft's own format or in JSON, or an InputError; and what is JSON is so for the
// library's reader too.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/input_error.hpp"
#include "trace/chrome_json_reader.hpp"
#include "trace/json_stream.hpp"
#include "trace/native_format.hpp"

namespace {

template <class Read>
bool accepts(Read&& read) {
  try {
    read();
  } catch (const stagecraft::InputError&) {
    return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stagecraft;
  const int file = ::memfd_create("trace", 0);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  accepts([&] { read_trace(path); });
  accepts([&] { read_chrome_json(path); });
  const bool json = accepts([&] {
    JsonStream in(path, "JSON");
    in.skip();
    in.end();
  });
  ::close(file);
  if (json && !nlohmann::json::accept(data, data + size)) std::abort();
  return 0;
}
