// Rank files and orders of ranks, as scenarios name them.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "spec_test.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

/// A rank file that is gone afterwards.
struct RankFile {
  std::string path = (std::filesystem::temp_directory_path() / ("ranks-" + std::to_string(::getpid()))).string();
  explicit RankFile(const std::string& text) { std::ofstream(path) << text; }
  RankFile(const RankFile&) = delete;
  RankFile& operator=(const RankFile&) = delete;
  ~RankFile() { std::filesystem::remove(path); }
  std::string override_text() const { return "parallel.placement={\"rank_file\":\"" + path + "\"}"; }
};

}  // namespace

TEST_CASE("a rank file has a line per rank; comments, blanks and carriage returns are left out") {
  const RankFile file("# rank order\n0:7\r\n\n  1:0  # the second node\n1:3");
  const PlacementSpec placement = small({file.override_text()}).run.parallel.placement;
  REQUIRE(placement.places.size() == 3);
  CHECK(placement.places[0].gpu == 7);
  CHECK(placement.places[1].node == 1);
  CHECK(placement.places[2].gpu == 3);
  CHECK(placement.rank_file == file.path);
}

TEST_CASE("a line of a rank file that is no NODE:GPU is refused with its number") {
  for (const char* line : {"7", "a:1", "0:", ":1", "0:1:2", "0 1", "-1:0", "99999999999999999999:0", "0:1x"}) {
    const RankFile file(std::string("0:0\n") + line + "\n");
    INFO(line);
    const InputProblem problem = refused([&] { small({file.override_text()}); });
    CHECK(problem.file == file.path);
    CHECK(problem.line == 2);
    CHECK(contains(problem.expected, "NODE:GPU"));
  }
  const RankFile empty("# nothing\n");
  CHECK(contains(refused([&] { small({empty.override_text()}); }).got, "no line"));
}

TEST_CASE("a scenario lists its rank file among the files that were read") {
  const RankFile file("0:0\n");
  const Scenario scenario = small({file.override_text()});
  CHECK(std::find(scenario.files.begin(), scenario.files.end(), file.path) != scenario.files.end());
}
