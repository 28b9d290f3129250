#include "base/units.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace stagecraft;

namespace {

struct Row {
  const char* text;
  Dimension dimension;
  double value;
};

}  // namespace

TEST_CASE("a quantity is a number and a unit with an SI or binary prefix") {
  const auto row = GENERATE(values<Row>({
      {"80 GiB", Dimension::bytes, 80.0 * 1073741824.0},
      {"61.3 GB", Dimension::bytes, 61.3e9},
      {"1 B", Dimension::bytes, 1.0},
      {"512 KiB", Dimension::bytes, 524288.0},
      {"8 kb", Dimension::bytes, 1000.0},  // bits
      {"1e3MB", Dimension::bytes, 1e9},
      {"  2 TB ", Dimension::bytes, 2e12},
      {"1.5 us", Dimension::seconds, 1.5e-6},
      {"130 ns", Dimension::seconds, 130e-9},
      {"2 min", Dimension::seconds, 120.0},
      {"1 d", Dimension::seconds, 86400.0},
      {"0 s", Dimension::seconds, 0.0},
      {"2.5 GFLOP", Dimension::flops, 2.5e9},
      {"3 YFLOP", Dimension::flops, 3e24},
      {"400 Gb/s", Dimension::bytes_per_second, 50e9},
      {"25 GB/s", Dimension::bytes_per_second, 25e9},
      {"1 GiB/s", Dimension::bytes_per_second, 1073741824.0},
      {"312 TFLOP/s", Dimension::flops_per_second, 312e12},
      {"100 GFLOP/s", Dimension::flops_per_second, 100e9},
      {"-3 s", Dimension::seconds, -3.0},
  }));
  CAPTURE(row.text);
  const ParsedQuantity parsed = parse_quantity(row.text, row.dimension);
  REQUIRE(parsed.ok);
  CHECK(parsed.value == Approx(row.value).epsilon(1e-15));
}

TEST_CASE("anything else is no quantity, and the refusal shows how to write one") {
  const auto row = GENERATE(values<Row>({
      {"", Dimension::bytes, 0},
      {"80", Dimension::bytes, 0},
      {"GiB", Dimension::bytes, 0},
      {"80 gib", Dimension::bytes, 0},
      {"80 KB", Dimension::bytes, 0},  // kB or KiB, not both
      {"80 GB/s", Dimension::bytes, 0},
      {"80 GB", Dimension::bytes_per_second, 0},
      {"100 Gbps", Dimension::bytes_per_second, 0},
      {"1.5 usec", Dimension::seconds, 0},
      {"1,5 us", Dimension::seconds, 0},
      {"nan s", Dimension::seconds, 0},
      {"inf s", Dimension::seconds, 0},
      {"1e999 s", Dimension::seconds, 0},
      {"1e308 EiB", Dimension::bytes, 0},
      {"+1 s", Dimension::seconds, 0},
      {"0x10 s", Dimension::seconds, 0},
      {"312 TFLOPS", Dimension::flops_per_second, 0},
      {"312 TFLOP", Dimension::flops_per_second, 0},
      {"312 TiFLOP/s", Dimension::flops_per_second, 0},
      {"1 s s", Dimension::seconds, 0},
  }));
  CAPTURE(row.text);
  const ParsedQuantity parsed = parse_quantity(row.text, row.dimension);
  CHECK_FALSE(parsed.ok);
  CHECK(parsed.problem.find("such as \"") != std::string::npos);
}

TEST_CASE("a text of quantities that is absurdly long is refused") {
  CHECK_FALSE(parse_quantity(std::string(100000, '1') + " B", Dimension::bytes).ok);
}

TEST_CASE("quantities print with three digits and a fitting prefix") {
  CHECK(to_text(Bytes{61.3e9}) == "61.3 GB");
  CHECK(to_text(Bytes{0}) == "0 B");
  CHECK(to_text(Bytes{999.6}) == "1 kB");
  CHECK(to_text(Bytes{999.4}) == "999 B");
  CHECK(to_text(Bytes{9.996e6}) == "10 MB");
  CHECK(to_text(Bytes{-5e6}) == "-5 MB");
  CHECK(to_text(Seconds{24.8}) == "24.8 s");
  CHECK(to_text(Seconds{1.5e-6}) == "1.5 us");
  CHECK(to_text(Seconds{130e-9}) == "130 ns");
  CHECK(to_text(Seconds{102.6}) == "103 s");
  CHECK(to_text(Seconds{3600}) == "60 min");
  CHECK(to_text(Seconds{36000}) == "10 h");
  CHECK(to_text(Seconds{86400.0 * 30}) == "30 d");
  CHECK(to_text(Flops{2.5e9}) == "2.5 GFLOP");
  CHECK(to_text(BytesPerSecond{25e9}) == "25 GB/s");
  CHECK(to_text(FlopsPerSecond{312e12}) == "312 TFLOP/s");
}

TEST_CASE("what is printed reads back within its digits") {
  for (double amount = 1.0; amount < 1e20; amount *= 7.3) {
    const std::string text = to_text(Bytes{amount});
    CAPTURE(text);
    const ParsedQuantity parsed = parse_quantity(text, Dimension::bytes);
    REQUIRE(parsed.ok);
    CHECK(parsed.value == Approx(amount).epsilon(0.006));
  }
}

TEST_CASE("amounts, rates and times divide and multiply into each other") {
  CHECK((Bytes{100} / BytesPerSecond{50}).value == 2.0);
  CHECK((Flops{312e12} / FlopsPerSecond{312e12}).value == 1.0);
  CHECK((BytesPerSecond{50} * Seconds{2}).value == 100.0);
  CHECK(Bytes{6} / Bytes{3} == 2.0);
}
