#include <catch2/catch.hpp>

#include "gui/timeline/time_axis.hpp"
#include "gui/timeline/zoom_stack.hpp"

using namespace stagecraft::gui;

TEST_CASE("a time maps to a pixel and back") {
  struct Line {
    double begin_s, end_s, width, time_s, x;
  };
  const std::vector<Line> table = {
      {0, 1, 1000, 0, 0},         {0, 1, 1000, 1, 1000},       {0, 1, 1000, 0.25, 250},
      {2, 4, 100, 3, 50},         {2, 4, 100, 1, -50},         {-1, 1, 200, 0, 100},
      {0, 1e-6, 1000, 5e-7, 500}, {10, 10 + 1e-3, 500, 10, 0}, {0, 86400, 1600, 43200, 800},
  };
  for (const Line& line : table) {
    const TimeAxis axis{line.begin_s, line.end_s, line.width};
    CAPTURE(line.begin_s, line.end_s, line.time_s);
    CHECK(axis.x_of(line.time_s) == Approx(line.x).margin(1e-6));
    CHECK(axis.time_at(line.x) == Approx(line.time_s).margin(1e-12));
  }
}

TEST_CASE("zooming keeps the time under the cursor") {
  const TimeLimits limits{0, 10};
  const TimeAxis axis{0, 10, 1000};
  for (const double anchor : {0.0, 123.0, 500.0, 1000.0}) {
    const TimeAxis in = zoomed(axis, 0.5, anchor, limits);
    CAPTURE(anchor);
    CHECK(in.end_s - in.begin_s == Approx(5));
    CHECK(in.time_at(anchor) == Approx(axis.time_at(anchor)));
  }
}

TEST_CASE("a zoom ends at the whole trace and at a nanosecond a pixel") {
  const TimeLimits limits{0, 10};
  TimeAxis axis{0, 10, 1000};
  const TimeAxis out = zoomed(axis, 100, 500, limits);
  CHECK(out.begin_s == Approx(-0.2));
  CHECK(out.end_s == Approx(10.2));
  for (int i = 0; i < 100; ++i) axis = zoomed(axis, 0.5, 300, limits);
  CHECK(axis.seconds_per_pixel() == Approx(1e-9));
  CHECK(axis.begin_s < axis.end_s);
}

TEST_CASE("a pan stops at the ends of the trace") {
  const TimeLimits limits{0, 10};
  const TimeAxis axis{4, 6, 1000};
  CHECK(panned(axis, 500, limits).begin_s == Approx(5));
  CHECK(panned(axis, 1e9, limits).end_s == Approx(10.2));
  CHECK(panned(axis, -1e9, limits).begin_s == Approx(-0.2));
  CHECK(panned(axis, 1e9, limits).seconds_per_pixel() == Approx(axis.seconds_per_pixel()));
}

TEST_CASE("fitting shows the range and a margin on either side") {
  const TimeAxis axis = fitted({0, 10, 1000}, 2, 4, {0, 10}, 0.05);
  CHECK(axis.begin_s == Approx(1.9));
  CHECK(axis.end_s == Approx(4.1));
}

TEST_CASE("ticks are round and far enough apart") {
  struct Line {
    double begin_s, end_s;
    const char* first;
    const char* second;
  };
  const std::vector<Line> table = {
      {0, 1, "0 ms", "100 ms"},
      {0, 10, "0 s", "1 s"},
      {0, 1e-3, "0 us", "100 us"},
      {0, 2e-6, "0 ns", "200 ns"},
      {5, 5 + 4e-3, "5000.0 ms", "5000.5 ms"},
  };
  for (const Line& line : table) {
    const TimeAxis axis{line.begin_s, line.end_s, 1000};
    const std::vector<Tick> found = ticks(axis, 90);
    CAPTURE(line.begin_s, line.end_s);
    REQUIRE(found.size() >= 2);
    CHECK(found[0].label == line.first);
    CHECK(found[1].label == line.second);
    for (std::size_t i = 1; i < found.size(); ++i) {
      CHECK(axis.x_of(found[i].time_s) - axis.x_of(found[i - 1].time_s) >= 90);
    }
  }
}

TEST_CASE("durations are written with the unit that suits them") {
  CHECK(duration_text(0) == "0 s");
  CHECK(duration_text(1.2345) == "1.234 s");
  CHECK(duration_text(0.0123456) == "12.35 ms");
  CHECK(duration_text(4.5e-6) == "4.5 us");
  CHECK(duration_text(8e-9) == "8 ns");
  CHECK(duration_text(123.4) == "123.4 s");
  CHECK(duration_text(-0.002) == "-2 ms");
}

TEST_CASE("the zoom stack goes back and forward, and a new place drops what lay forward") {
  ZoomStack stack({0, 10, "", {}});
  CHECK_FALSE(stack.can_go_back());
  stack.go({1, 2, "", {}});
  stack.replace({1, 3, "", {}});
  stack.go({1, 3, "rank 1", {}});
  CHECK(stack.back().end_s == 3);
  CHECK(stack.current().filter.empty());
  CHECK(stack.back().end_s == 10);
  CHECK_FALSE(stack.can_go_back());
  CHECK(stack.forward().end_s == 3);
  stack.go({4, 5, "", {}});
  CHECK_FALSE(stack.can_go_forward());
  stack.go({4, 5, "", {}});  // the same place is no step
  CHECK(stack.back().end_s == 3);
  for (int i = 0; i < 1000; ++i) stack.go({0, 1.0 + i, "", {}});
  int steps = 0;
  while (stack.can_go_back()) {
    stack.back();
    ++steps;
  }
  CHECK(steps == 199);
}
