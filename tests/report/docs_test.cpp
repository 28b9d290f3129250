// The documents that list what the program knows, held against it.

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "report/keys.hpp"

using namespace stagecraft;

TEST_CASE("docs/report.md lists the keys as the program knows them (stagecraft schema report --format md)") {
  std::ifstream file(std::string(STAGECRAFT_SOURCE_DIR) + "/docs/report.md");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str().find(report_keys_markdown()) != std::string::npos);
}
