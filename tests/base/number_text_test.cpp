#include "base/number_text.hpp"

#include <catch2/catch.hpp>

using namespace stagecraft;

TEST_CASE("a number of a flag is taken whole and within its bounds, or refused with both") {
  for (const char* good : {"0", "2.5", "1e1", "10", "-0"}) CHECK(refuse_number(good, 0, 10).empty());
  for (const char* bad : {"", "nan", "inf", "-1", "10.1", "1e400", "3x", "3 4", "--"}) {
    CHECK(refuse_number(bad, 0, 10) == "got " + std::string(bad) + ", expected a number from 0 to 10");
  }
  CHECK_FALSE(refuse_number(std::string("3\0x", 3), 0, 10).empty());
}
