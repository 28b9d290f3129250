#include <catch2/catch.hpp>

#include "base/input_error.hpp"
#include "search/sweep_journal.hpp"

using namespace stagecraft;

namespace {

SweepIdentity identity() {
  return {"my.json", "00c0ffee", "estimated", {"zero_stage=1"}, {{"batch.micro", {"1", "2", "4"}}}, {"mfu"}};
}

}  // namespace

TEST_CASE("the first line of a journal says which sweep it is, and reads back", "[search]") {
  const std::string line = journal_header(identity());
  const SweepIdentity back = read_journal_header(line, "test");
  CHECK(journal_header(back) == line);
  CHECK(back.axes[0].values == std::vector<std::string>{"1", "2", "4"});
  CHECK_THROWS_AS(read_journal_header("{}", "test"), InputError);
  CHECK_THROWS_AS(read_journal_header(line.substr(0, line.size() / 2), "test"), InputError);
}

TEST_CASE("a point is of a sweep if its number and values are", "[search]") {
  Point point;
  point.number = 1;
  point.values = {"2"};
  CHECK(read_journal_point(point_line(point), identity(), "test").number == 1);
  point.values = {"4"};
  CHECK_THROWS_AS(read_journal_point(point_line(point), identity(), "test"), InputError);
  point.values = {"2"};
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{3}}) {
    point.number = number;
    CHECK_THROWS_AS(read_journal_point(point_line(point), identity(), "test"), InputError);
  }
}
