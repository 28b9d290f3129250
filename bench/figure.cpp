#include "figure.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

namespace stagecraft::bench {

bool wants_json(int argc, char** argv) {
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--json") {
      fmt::print(stderr, "{}: got \"{}\", expected --json or nothing\n", argv[0], argv[i]);
      std::exit(2);
    }
    json = true;
  }
  return json;
}

void print(const Figure& figure, bool json) {
  if (json) {
    nlohmann::ordered_json line = {{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
    if (figure.reference) {
      line["reference"] = *figure.reference;
      line["reference_name"] = figure.reference_name;
      line["ratio"] = figure.value / *figure.reference;
    }
    fmt::print("{}\n", line.dump());
  } else if (figure.reference) {
    fmt::print("{:<44} {:>12.6g} {:<10} {:>12.6g} ({}) {:>9.4f}\n", figure.name, figure.value, figure.unit,
               *figure.reference, figure.reference_name, figure.value / *figure.reference);
  } else {
    fmt::print("{:<44} {:>12.6g} {}\n", figure.name, figure.value, figure.unit);
  }
  std::fflush(stdout);
}

}  // namespace stagecraft::bench
