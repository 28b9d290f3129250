#include "search/axis.hpp"

#include <catch2/catch.hpp>

#include "base/input_error.hpp"

using namespace stagecraft;
using Texts = std::vector<std::string>;

TEST_CASE("an axis is a list, a range or powers", "[search]") {
  CHECK(parse_axis("parallel.tensor=1,2,4").values == Texts{"1", "2", "4"});
  CHECK(parse_axis("batch.micro=1..4").values == Texts{"1", "2", "3", "4"});
  CHECK(parse_axis("batch.micro=1..8+3").values == Texts{"1", "4", "7"});
  CHECK(parse_axis("batch.micro=1..64*4").values == Texts{"1", "4", "16", "64"});
  CHECK(parse_axis("cluster.fabric.oversubscription=1..2+0.5").values == Texts{"1", "1.5", "2"});
  CHECK(parse_axis("x=0..0.3+0.1").values.size() == 4);  // 3 x 0.1 is a little more than 0.3
  CHECK(parse_axis("x=-2..2+2").values == Texts{"-2", "0", "2"});
  CHECK(parse_axis("x=1e3..3e3+1e3").values == Texts{"1000", "2000", "3000"});
  CHECK(parse_axis("recompute=none").values == Texts{"none"});
  CHECK(parse_axis("a=b=c").path == "a");
}

TEST_CASE("commas inside quotes and brackets part no values", "[search]") {
  CHECK(parse_axis(R"(parallel.partition=[9,11],[10,10])").values == Texts{"[9,11]", "[10,10]"});
  CHECK(parse_axis(R"(schedule={"name":"zb-auto","memory_limit":2},1f1b)").values ==
        Texts{R"({"name":"zb-auto","memory_limit":2})", "1f1b"});
  CHECK(parse_axis(R"(name="a,b","c\",d")").values == Texts{R"("a,b")", R"("c\",d")"});
}

TEST_CASE("a hostile axis is refused with one message", "[search]") {
  const char* const text = GENERATE("", "=", "=1", "parallel.tensor", "parallel.tensor=", "x=1,,2", "x=1,1", "x=8..1",
                                    "x=1..8+0", "x=1..8+-1", "x=1..8*1", "x=0..8*2", "x=1..1e18",
                                    "x=1..1e300*1.0000001", "x=0..1+1e-300", "x=,", "x= , ");
  CAPTURE(text);
  CHECK_THROWS_AS(parse_axis(text), InputError);
}

TEST_CASE("what only looks like a range is a value", "[search]") {
  CHECK(parse_axis("model=../a/b.json").values == Texts{"../a/b.json"});
  CHECK(parse_axis("x=nan..3").values == Texts{"nan..3"});
  CHECK(parse_axis("x=..").values == Texts{".."});
  CHECK(parse_axis("x=1..").values == Texts{"1.."});
}

TEST_CASE("the last axis of a sweep changes fastest", "[search]") {
  const std::vector<SweepAxis> axes{parse_axis("a=1,2"), parse_axis("b=x,y,z")};
  REQUIRE(count_points(axes) == 6);
  CHECK(values_of_point(axes, 0) == Texts{"1", "x"});
  CHECK(values_of_point(axes, 1) == Texts{"1", "y"});
  CHECK(values_of_point(axes, 5) == Texts{"2", "z"});
  CHECK(overrides_of_point(axes, 3) == Texts{"a=2", "b=x"});
}

TEST_CASE("a path twice, in whatever form, and too many points are refused", "[search]") {
  CHECK_THROWS_AS(count_points({parse_axis("a.b=1"), parse_axis("/a/b=2")}), InputError);
  const std::vector<SweepAxis> many{parse_axis("a=1..1000"), parse_axis("b=1..1000"), parse_axis("c=1,2")};
  CHECK_THROWS_AS(count_points(many), InputError);
}
