// Any bytes are a dump of a topology in each of its forms, or an InputError; what is imported is a cluster file that
// can be read, or an InputError that says what is odd.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/input_error.hpp"
#include "exchange/topology_import.hpp"
#include "spec/parse_cluster.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stagecraft;
  const std::string root = STAGECRAFT_SOURCE_DIR;
  const Library library{{root + "/scenarios", root + "/topologies"}};
  const std::string text(data, data + size);
  TopologyRequest request;
  request.gpu = "H100-SXM5-80GB";
  guess_topology_form(text);
  for (const TopologyForm& form : topology_forms()) {
    try {
      parse_cluster(form.import(text, "fuzz", request).cluster, "imported", library);
    } catch (const InputError&) {
    }
  }
  return 0;
}
