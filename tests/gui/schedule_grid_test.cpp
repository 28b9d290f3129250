// The schedule editor's model: any schedule of the family, moves with the checker's verdict, PyTorch's CSV both ways.
#include "gui/models/schedule_grid.hpp"

#include <QAbstractItemModelTester>
#include <QTemporaryDir>
#include <catch2/catch.hpp>

#include "base/file_io.hpp"
#include "base/input_error.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

TEST_CASE("1F1B of 4 ranks and 8 micro-batches has the bubble of the formula") {
  ScheduleGrid grid;
  const QAbstractItemModelTester tester(&grid, QAbstractItemModelTester::FailureReportingMode::Fatal);
  grid.generate("1f1b", {4, 8, 1}, {});
  CHECK(grid.rowCount() == 4);
  CHECK(grid.columnCount() == 16);
  CHECK(grid.operations() == 64);
  CHECK(grid.verdict().empty());
  // (p - 1) / (m + p - 1) of a step in which every rank works m times F and B.
  CHECK(makespan_bubble_rate(grid.analysis()) == Approx(3.0 / 11));
  CHECK(grid.index(0, 0).data().toString() == "0F0");
}

TEST_CASE("every schedule of the family shows itself or says why not") {
  ScheduleGrid grid;
  for (const FamilyEntry& entry : schedule_family()) {
    CAPTURE(entry.name);
    grid.generate(entry.name, {4, 8, usual_chunks(entry)}, {});
    CHECK(grid.empty() == has_errors(grid.refusals()));
    if (!grid.empty()) CHECK_FALSE(has_errors(grid.verdict()));
  }
}

TEST_CASE("a shape that a schedule cannot have leaves an empty table and the reason") {
  ScheduleGrid grid;
  grid.generate("dualpipe", {3, 8, 1}, {});  // pairs ranks
  CHECK(grid.empty());
  REQUIRE(has_errors(grid.refusals()));
  grid.generate("no-such-schedule", {4, 8, 1}, {});
  CHECK(has_errors(grid.refusals()));
}

TEST_CASE("a backward moved before its forward is refused by the checker, and undo makes it good") {
  ScheduleGrid grid;
  grid.generate("1f1b", {2, 4, 1}, {});
  REQUIRE(grid.name_of({0, 2}) == "0B0");
  CHECK(grid.move({0, 2}, 0));
  CHECK(grid.name_of({0, 0}) == "0B0");
  CHECK(has_errors(grid.verdict()));
  grid.undo();
  CHECK(grid.name_of({0, 2}) == "0B0");
  CHECK(grid.verdict().empty());
  CHECK_FALSE(grid.can_undo());
}

TEST_CASE("moves to the end, to the same place and out of range") {
  ScheduleGrid grid;
  grid.generate("gpipe", {2, 3, 1}, {});
  const QString first = grid.name_of({0, 0});
  CHECK_FALSE(grid.move({0, 0}, 0));
  CHECK_FALSE(grid.move({0, 0}, 1));  // before its neighbour: where it is
  CHECK_FALSE(grid.move({7, 0}, 1));
  CHECK_FALSE(grid.move({0, 99}, 1));
  CHECK(grid.move({0, 0}, 100));
  CHECK(grid.name_of({0, 5}) == first);
  grid.undo();
  CHECK(grid.name_of({0, 0}) == first);
}

TEST_CASE("a CSV that was saved reads back as the same schedule") {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("schedule.csv").toStdString();
  ScheduleGrid grid;
  grid.generate("zb-h1", {4, 8, 1}, {});
  grid.save_csv(path);
  ScheduleGrid again;
  again.load_csv(path);
  CHECK(again.verdict().empty());
  for (int rank = 0; rank < 4; ++rank)
    for (int column = 0; column < grid.columnCount(); ++column)
      CHECK(again.index(rank, column).data() == grid.index(rank, column).data());
}

TEST_CASE("a hostile CSV is refused with its place and the shown schedule stays") {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("bad.csv").toStdString();
  ScheduleGrid grid;
  grid.generate("1f1b", {2, 2, 1}, {});
  for (const std::string& text : {std::string("0F0,nonsense"), std::string("0F999999999999"), std::string(1, '\0')}) {
    write_file_whole(path, text);
    CHECK_THROWS_AS(grid.load_csv(path), InputError);
    CHECK(grid.operations() == 8);
  }
}
