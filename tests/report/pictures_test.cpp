#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <set>

#include "report/schedule_trace.hpp"
#include "report/svg.hpp"
#include "report/timeline_text.hpp"
#include "report/validation.hpp"
#include "schedule/family.hpp"

using namespace stagecraft;

namespace {

Trace timed(const char* name, std::int32_t ranks, std::int32_t micro_batches) {
  ScheduleRequest request;
  request.shape = {ranks, micro_batches, 1};
  const FamilyEntry* const entry = find_schedule(name);
  REQUIRE(entry != nullptr);
  const Schedule schedule = entry->generate(request);
  return to_trace(schedule, analyse(schedule, request.times));
}

}  // namespace

TEST_CASE("1F1B on two ranks is drawn to scale, F one unit and B two") {
  // F0 F1 wait 1, then B0 of rank 1 ends at 4: rank 0 runs B0 4..6 and B1 7..9.
  CHECK(timeline_text(timed("1f1b", 2, 2), false) ==
        "rank   0 |F0F1....B0--..B1--|\n"
        "rank   1 |..F0B0--F1B1--....|\n");
}

TEST_CASE("a timeline wider than allowed is scaled down, not cut off") {
  const std::string text = timeline_text(timed("1f1b", 4, 64), false, 60);
  CHECK(text.find('\n') <= 60 + 12);
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
}

TEST_CASE("SVG draws every operation that is wide enough, with its name as tooltip, over hatched bubbles") {
  const std::string svg = timeline_svg(timed("1f1b", 2, 2), {});
  CHECK_THAT(svg, Catch::Contains("<title>0F0 0 to 1 s</title>") && Catch::Contains("<title>1B1 5 to 7"));
  CHECK_THAT(svg, Catch::Contains("fill=\"#3b78c3\"") && Catch::Contains("url(#bubble)"));
}

TEST_CASE("the size of an SVG is bounded by its pixels, not by the number of operations") {
  SvgOptions options;
  options.width = 400;
  const std::size_t small = timeline_svg(timed("1f1b", 4, 2000), options).size();
  const std::size_t large = timeline_svg(timed("1f1b", 4, 20000), options).size();
  CHECK(large < 4 * 400 * 120);
  CHECK(large < 2 * small);
}

TEST_CASE("names from outside are escaped in SVG") {
  Trace trace = timed("1f1b", 1, 1);
  trace.scenario = "<a & b>";
  CHECK_THAT(timeline_svg(trace, {}), Catch::Contains("&lt;a &amp; b&gt;"));
}

TEST_CASE("the scatter plot names every group beside a mark that no other group has") {
  Validation validation;
  for (int i = 0; i < 40; ++i) {
    GroupResult group;
    group.name = "group-" + std::to_string(i);
    group.step_time.emplace();
    validation.groups.push_back(group);
  }
  const std::string svg = scatter_svg(validation);
  std::set<std::string> marks;
  for (const GroupResult& group : validation.groups) {
    const std::size_t name = svg.find(">" + group.name + "<");
    REQUIRE(name != std::string::npos);
    const std::size_t begin = svg.rfind("<path d=\"", name);
    REQUIRE(begin != std::string::npos);
    std::string mark;  // letters of the outline and the colour, without the place
    for (const char c : svg.substr(begin, svg.find("/>", begin) - begin)) {
      if (std::isalpha(static_cast<unsigned char>(c)) != 0) mark += c;
    }
    const std::size_t fill = svg.find("fill=\"", begin);
    marks.insert(mark + svg.substr(fill + 6, 7));
  }
  CHECK(marks.size() == validation.groups.size());
}
