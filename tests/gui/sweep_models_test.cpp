// What a sweep is started with and what it leaves, without a window.
#include <QHeaderView>
#include <QSignalSpy>
#include <QStyleOptionHeader>
#include <QTemporaryDir>
#include <catch2/catch.hpp>
#include <fstream>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "gui/models/axis_values.hpp"
#include "gui/models/journal_tail.hpp"
#include "gui/models/json_edit.hpp"
#include "gui/models/point_text.hpp"
#include "gui/models/sweep_points.hpp"
#include "gui/sweep/axis_list.hpp"
#include "gui/sweep/paint_pareto.hpp"
#include "gui/sweep/sweep_table.hpp"
#include "gui/sweep/sweep_words.hpp"
#include "gui/theme/theme.hpp"
#include "wait_for.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

constexpr double gib = 1073741824.0;

Point timed(std::int64_t number, double tokens_per_s, double gibibytes) {
  Point point;
  point.number = number;
  point.values = {std::to_string(number + 1)};
  point.figures.tokens_per_s = tokens_per_s;
  point.figures.peak_memory_bytes = gibibytes * gib;
  point.figures.memory_limit_bytes = 16 * gib;
  return point;
}

Point refused(std::int64_t number, const std::string& reason) {
  Point point;
  point.number = number;
  point.values = {std::to_string(number + 1)};
  point.status = PointStatus::infeasible;
  point.reason = reason;
  return point;
}

PointTable sweep_of(int values) {
  PointTable table;
  table.axes = {{"batch.micro", {}}};
  for (int i = 1; i <= values; ++i) table.axes[0].values.push_back(std::to_string(i));
  table.objectives = {"tokens_per_s", "peak_memory_bytes"};
  return table;
}

QString cell(const SweepPointsModel& model, int row, const QString& title) {
  for (int column = 0; column < model.columnCount(); ++column)
    if (model.headerData(column, Qt::Horizontal, Qt::DisplayRole) == title)
      return model.index(row, column).data().toString();
  return "no such column";
}

}  // namespace

TEST_CASE("the frontier is what nobody beats in throughput with as little memory, as the points come") {
  SweepPointsModel model;
  model.set_table(sweep_of(8));
  // 80 tokens/s in 9 GiB is the best there is until 95 in 9 GiB comes; 100 in 11 GiB until 100 in 10 GiB comes.
  model.add_points({timed(0, 80, 9), timed(1, 100, 11)});
  CHECK(cell(model, 0, "verdict") == "frontier");
  CHECK(cell(model, 1, "verdict") == "frontier");
  Point overflows = timed(5, 120, 20);
  overflows.status = PointStatus::does_not_fit;
  model.add_points({timed(2, 95, 9), timed(3, 100, 10), timed(4, 90, 8), overflows, refused(6, "7 does not divide 8")});
  const char* const verdicts[] = {"runs", "runs", "frontier", "frontier", "frontier", "does not fit", "cannot run"};
  for (int row = 0; row < 7; ++row) CHECK(cell(model, row, "verdict") == verdicts[row]);
  CHECK(cell(model, 6, "reason") == "7 does not divide 8");
  CHECK(cell(model, 6, "tokens/s").isEmpty());
  CHECK(cell(model, 3, "peak memory (GiB)") == "10.0");
  CHECK(cell(model, 3, "micro") == "4");
  CHECK(model.counts() == std::array<std::int64_t, verdict_count>{3, 2, 0, 1, 1, 0});

  // A staircase from (8, 90) over (9, 95) to (10, 100): as much as is reached with that much memory.
  ParetoPicture picture = make_pareto_picture(model);
  lay_out(picture, {600, 400}, QFont());
  const auto at = [&](double gibibytes, double tokens) {
    return QPointF(picture.x.pixel(gibibytes * gib), picture.y.pixel(tokens));
  };
  CHECK(picture.points.size() == 6);
  CHECK(frontier_steps(picture) == std::vector{at(8, 90), at(9, 90), at(9, 95), at(10, 95), at(10, 100)});
  CHECK(picture.limit == 16 * gib);
  CHECK(picture.x_unit.name == "GiB");
}

TEST_CASE("the table of points that gets the focus chooses none, and an arrow key does") {
  SweepPointsModel model;
  model.set_table(sweep_of(3));
  SweepTable table(model);
  model.add_points({timed(0, 90, 8), timed(1, 95, 9), timed(2, 100, 10)});
  QSignalSpy chosen(&table, &SweepTable::row_chosen);
  table.show();
  QApplication::setActiveWindow(&table);
  table.view().setFocus(Qt::OtherFocusReason);
  REQUIRE(wait_for([&] { return table.view().currentIndex().isValid(); }));
  CHECK(chosen.isEmpty());
  QTest::keyClick(&table.view(), Qt::Key_Down);
  CHECK(chosen.size() == 1);
}

TEST_CASE("the name of a point stands within the scatter, in more lines where it is long") {
  const QFont font;
  const QFontMetricsF metrics(font);
  const QRectF area(60, 30, 500, 300);
  const QString brief = "tensor 4", longer = QString("virtual stages 12, ").repeated(10);
  REQUIRE(metrics.horizontalAdvance(longer) > area.width());
  for (const QString& name : {brief, longer}) {
    for (const double x : {area.left(), area.center().x(), area.right()}) {
      for (const double y : {area.top(), area.center().y(), area.bottom()}) {
        CAPTURE(name.toStdString(), x, y);
        const QRectF box = note_box(area, {x, y}, name, font);
        CHECK(area.contains(box));
        const QRectF words = metrics.boundingRect(box, Qt::AlignCenter | Qt::TextWordWrap, name);
        CHECK(box.contains(words));
      }
    }
  }
}

TEST_CASE("a point whose process died is replaced when it is tried again") {
  SweepPointsModel model;
  model.set_table(sweep_of(2));
  Point died = refused(0, "its process was ended by signal 9");
  died.status = PointStatus::failed;
  model.add_points({died, timed(1, 80, 9)});
  CHECK(cell(model, 0, "verdict") == "failed");
  model.add_points({timed(0, 90, 8)});
  CHECK(model.rowCount() == 2);
  CHECK(cell(model, 0, "verdict") == "frontier");
  CHECK(cell(model, 1, "verdict") == "runs");
}

TEST_CASE("a layout that a search did not time is no point that runs as fast as its bound") {
  PointTable table = sweep_of(1);
  table.points = {timed(0, 100, 10)};
  table.points[0].reason = "not timed: step time is a lower bound";
  SweepPointsModel model;
  model.set_table(std::move(table));
  CHECK(cell(model, 0, "verdict") == "not timed");
}

TEST_CASE("filters part the points: each verdict is in all and in one other, a frontier in runs too") {
  for (std::size_t i = 0; i < verdict_count; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    int filters = 0;
    for (std::size_t f = 0; f < sweep_filter_count; ++f)
      filters += passes(static_cast<SweepFilter>(f), verdict) ? 1 : 0;
    CHECK(filters == (verdict == Verdict::frontier ? 3 : 2));
  }
}

TEST_CASE("a journal that grows byte by byte gives each whole line once") {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("a.journal").toStdString();
  const PointTable table = sweep_of(5);
  std::string text = journal_header({"my.json", "0", "estimated", {}, table.axes, table.objectives}) + "\n";
  for (int i = 0; i < 4; ++i) text += point_line(timed(i, 10.0 * i, i)) + "\n";
  JournalTail tail(path);
  CHECK(tail.read().points.empty());  // not there yet
  std::vector<std::int64_t> seen;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::ofstream(path, std::ios::binary | std::ios::app).put(text[i]);
    for (const Point& point : tail.read().points) seen.push_back(point.number);
  }
  CHECK(seen == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(tail.identity()->axes[0].values.size() == 5);
}

TEST_CASE("of a search's journal the first line is read, and what follows is no point") {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("a.journal").toStdString();
  SweepIdentity search{"my.json", "0", "estimated", {}, {}, {"mfu"}};
  search.search = true;
  write_file_whole(path, journal_header(search) + "\n" + R"({"candidate": 0, "reason": "7 does not divide 8"})" + "\n");
  JournalTail tail(path);
  const JournalTail::Piece piece = tail.read();
  CHECK(piece.points.empty());
  CHECK_FALSE(piece.more);
  REQUIRE(tail.identity());
  CHECK(tail.identity()->search);
}

TEST_CASE("a line that kill -9 cut off and a resumed sweep wrote anew is read once") {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("a.journal").toStdString();
  const PointTable table = sweep_of(2);
  const std::string head = journal_header({"my.json", "0", "estimated", {}, table.axes, table.objectives}) + "\n";
  write_file_whole(path, head + point_line(timed(0, 1, 1)).substr(0, 20));
  JournalTail tail(path);
  CHECK(tail.read().points.empty());
  write_file_whole(path, head + point_line(timed(1, 1, 1)) + "\n" + point_line(timed(0, 1, 1)) + "\n");
  CHECK(tail.read().points.size() == 2);
}

TEST_CASE("what is no journal is refused, also if its first line never ends") {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("a.journal").toStdString();
  for (const char* const text : {"point,batch.micro\n", "no line", "{\"form\": 1}\n"}) {
    CAPTURE(text);
    write_file_whole(path, text);
    JournalTail tail(path);
    CHECK_THROWS_AS(tail.read(), InputError);
  }
}

TEST_CASE("a long line is read whole, however little is read at once") {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("a.journal").toStdString();
  const PointTable table = sweep_of(1);
  const std::string reason(std::size_t{1} << 20, 'x');
  write_file_whole(path, journal_header({"my.json", "0", "estimated", {}, table.axes, table.objectives}) + "\n" +
                             point_line(refused(0, reason)) + "\n");
  JournalTail tail(path);
  std::vector<Point> points;
  for (JournalTail::Piece piece{{}, true}; piece.more;) {
    piece = tail.read();
    points.insert(points.end(), piece.points.begin(), piece.points.end());
  }
  REQUIRE(points.size() == 1);
  CHECK(points[0].reason == reason);
}

TEST_CASE("the values of a point are written into the scenario as --set would lay them over it") {
  const std::string text =
      R"({"model": "gpt-145b", "parallel": {"tensor": 8}, "schedule": {"name": "gpipe", "waves": 2}})";
  CHECK(value_at(with_override(text, "parallel.tensor", "4"), "/parallel/tensor") == "4");
  CHECK(value_at(with_override(text, "/batch/micro", "2"), "/batch/micro") == "2");
  CHECK(value_at(with_override(text, "recompute", "full"), "/recompute") == "\"full\"");
  CHECK(value_at(with_override(text, "parallel.partition", "[9,11]"), "/parallel/partition") == "[9,11]");
  CHECK(value_at(with_override(text, "schedule", "1f1b"), "/schedule") == "\"1f1b\"");
  const std::string merged = with_override(text, "schedule", R"({"name": "zbv"})");
  CHECK(value_at(merged, "/schedule/name") == "\"zbv\"");
  CHECK(value_at(merged, "/schedule/waves") == "2");
  CHECK(value_at(with_override(text, "model.blocks", "4"), "/model/extends") == "\"gpt-145b\"");
  CHECK_THROWS_AS(with_override("[1]", "parallel.tensor", "4"), InputError);
}

TEST_CASE("round values stand on an axis, as many as there is room for") {
  const PlotScale scale{0, 10, 100, 600};
  CHECK(scale.pixel(0) == 100);
  CHECK(scale.pixel(5) == 350);
  const auto labels = [](const PlotScale& of, double unit, double least) {
    QStringList words;
    for (const PlotTick& tick : plot_ticks(of, unit, least)) words.append(tick.label);
    return words.join(' ');
  };
  CHECK(labels(scale, 1, 100) == "0 2 4 6 8 10");
  CHECK(labels(scale, 1, 101) == "0 5 10");
  CHECK(labels({0.1, 0.25, 0, 300}, 1, 90) == "0.10 0.15 0.20 0.25");
  CHECK(labels({200'000, 420'000, 400, 0}, 1e3, 100) == "200 300 400");
  CHECK(scale_around(5, 5).low < 5);
  CHECK(scale_around(0, 0).high > 0);
}

TEST_CASE("a sweep and a search are started with these words") {
  SweepOrder order;
  order.scenario = "s.json";
  order.axes = QStringList{"batch.micro=1,2"};
  order.output = "r.json";
  order.journal = "r.json.journal";
  order.estimate = true;
  CHECK(sweep_arguments(order, true).join(' ') ==
        "sweep s.json --vary batch.micro=1,2 --objective tokens_per_s --objective peak_memory_bytes --estimate "
        "--output r.json --format json --journal r.json.journal --resume");
  order.kind = SweepKind::search;
  order.estimate = false;
  CHECK(sweep_arguments(order, false).join(' ') ==
        "search s.json --vary batch.micro=1,2 --objective tokens_per_s --objective peak_memory_bytes --output r.json "
        "--format json --journal r.json.journal --progress");
}

TEST_CASE("a sweep goes on with what its journal says, in the form in which it was to be written") {
  const SweepIdentity identity{"/s.json", "0", "estimated", {"zero_stage=1"}, {{"batch.micro", {"1", "2"}}}, {"mfu"}};
  CHECK(
      sweep_arguments(order_of(identity, "/r.csv.journal"), true).join(' ') ==
      "sweep /s.json --vary batch.micro=1,2 --set zero_stage=1 --objective mfu --estimate --output /r.csv --format csv "
      "--journal /r.csv.journal --resume");
}

TEST_CASE("a shard goes on as the shard that it is") {
  SweepIdentity identity{"/s.json", "0", "estimated", {}, {{"batch.micro", {"1", "2", "4"}}}, {"mfu"}};
  identity.shard = {2, 3};
  CHECK(sweep_arguments(order_of(identity, "/r.json.journal"), true).join(' ') ==
        "sweep /s.json --vary batch.micro=1,2,4 --objective mfu --estimate --shard 2/3 --output /r.json --format json "
        "--journal /r.json.journal --resume");
}

TEST_CASE("a search goes on with what its journal says, without a scenario too, and leaves JSON") {
  SweepIdentity identity{"", "0", "predicted", {}, {{"batch.micro", {"1", "2"}}}, {"mfu"}};
  identity.search = true;
  identity.options = {"--model", "gpt-1.7b", "--cluster", "selene", "--global-batch", "64", "--reserve", "0.1"};
  CHECK(
      sweep_arguments(order_of(identity, "/r.txt.journal"), true).join(' ') ==
      "search --vary batch.micro=1,2 --objective mfu --model gpt-1.7b --cluster selene --global-batch 64 --reserve 0.1 "
      "--output /r.txt.json --format json --journal /r.txt.journal --resume --progress");
}

TEST_CASE("a failure is one sentence with the meaning of its exit code") {
  CHECK(failure_text(SweepKind::sweep, 0, "").isEmpty());
  CHECK(failure_text(SweepKind::sweep, 3, "stagecraft: 3 of 9 points\nstagecraft: error: s.json: no such field\n") ==
        "The sweep ended early (exit code 3, invalid input): s.json: no such field");
  CHECK(failure_text(SweepKind::search, 4, "").contains("No layout fits"));
  CHECK(failure_text(SweepKind::sweep, 137, "").contains("signal 9"));
  CHECK(failure_text(SweepKind::sweep, 3, QString(100'000, 'x')).size() < 1000);
}

TEST_CASE("the newest line of a search is what is shown of it") {
  const SearchProgress now = search_progress(
      "stagecraft: 256 of 5400 candidates judged, 1.2e+03 per second, 4 s left\n"
      "stagecraft: 512 of 5400 candidates judged, 1.2e+03 per second, 4 s left\n");
  CHECK(now.done == 512);
  CHECK(now.total == 5400);
  CHECK(now.text == "512 of 5400 candidates judged, 1.2e+03 per second, 4 s left");
  CHECK(search_progress("stagecraft: note: 3 of 4\n").total == 0);
}

TEST_CASE("fields to vary are counted as they are typed, and what cannot be says so") {
  const std::vector<FormField> fields{{"/batch/micro", "", "", "", FieldKind::integer, 1, 1e6, {}, "", "", false}};
  AxisList list(fields);
  CHECK(list.points() == 0);
  CHECK(list.problem().contains("field to vary"));
  list.set_texts({"batch.micro=1..8*2", "zero_stage=0,1,2"});
  CHECK(list.problem().isEmpty());
  CHECK(list.points() == 4 * 3);
  list.rows()[1]->values().setText("3..1");
  CHECK(list.problem().contains("zero_stage"));
  list.rows()[1]->values().setText("0");
  list.add("batch.micro=1");
  CHECK(list.problem().contains("twice"));
  CHECK(list.texts() == QStringList{"batch.micro=1..8*2", "zero_stage=0", "batch.micro=1"});
  CHECK(suggested_values(fields[0]) == "1..8*2");
}

TEST_CASE("a search takes the values of fields that it tries, and says which it does not") {
  const std::vector<FormField> fields;
  AxisList list(fields);
  CHECK(list.search_problem().isEmpty());  // no restriction at all
  list.set_texts({"batch.micro=1..8*2", "schedule=1f1b,zbv"});
  CHECK(list.search_problem().isEmpty());
  list.set_texts({"batch.micro=1..8*2", "sequence_length=1024,2048"});
  CHECK(list.problem().isEmpty());
  CHECK(list.search_problem().contains("sequence_length"));
  list.set_texts({"recompute=none,fulll"});
  CHECK(list.search_problem().contains("full"));
  list.set_texts({"batch.micro=1", "batch.micro=2"});
  CHECK(list.search_problem().contains("twice"));
  list.set_texts({"batch.micro=3..1"});
  CHECK(list.search_problem().contains("batch.micro"));
}

TEST_CASE("the arrow of a sorted column stands beside its title, not over it") {
  apply_theme(*qApp, make_theme(false));
  SweepPointsModel model;
  model.set_table(sweep_of(2));
  SweepTable table(model);
  const QHeaderView* const header = table.view().horizontalHeader();
  for (const auto direction : {QStyleOptionHeader::SortUp, QStyleOptionHeader::SortDown}) {
    QStyleOptionHeader option;
    option.initFrom(header);
    option.rect = QRect(200, 0, 90, 30);
    option.orientation = Qt::Horizontal;
    option.state |= QStyle::State_Horizontal;
    option.sortIndicator = direction;
    const QRect title = header->style()->subElementRect(QStyle::SE_HeaderLabel, &option, header);
    const QRect arrow = header->style()->subElementRect(QStyle::SE_HeaderArrow, &option, header);
    CAPTURE(title.left(), title.right(), arrow.left(), arrow.right(), arrow.top(), arrow.bottom());
    CHECK_FALSE(title.intersects(arrow));
    CHECK(option.rect.contains(arrow));
    CHECK(arrow.width() >= 6);
  }
}

TEST_CASE("a value that its field cannot take is refused in its row, with the reason beside it") {
  const std::vector<FormField> fields = form_fields({{}, {}, {}, {"1f1b", "gpipe"}, {}});
  struct Line {
    const char *axis, *reason;  // "": can be
  };
  const std::vector<Line> table = {
      {"batch.micro=1..x", "1..x: a whole number from 1 to "},
      {"batch.micro=1,2.5", "2.5: a whole number from 1 to "},
      {"parallel.tensor=0,1", "0: a whole number from 1 to 1024 is expected"},
      {"/parallel/tensor=1,2048", "2048: a whole number"},
      {"zero_stage=0..4", "4: a whole number from 0 to 3 is expected"},
      {"recompute=full,most", "most: one of none, selective, full"},
      {"fused_kernels=yes,no", "yes: true or false is expected"},
      {"gradient_bucket=1,2", "1: an amount with its unit"},
      {"batch.micro=1..0", "a range whose first value is not above its last"},
      {"batch.micro=1,,2", "no empty value"},
      {"batch.micro=1..8*2", ""},
      {"recompute=none,\"full\"", ""},
      {"parallel.partition=uniform,[3,5]", ""},
      {"schedule=1f1b,{\"name\": \"gpipe\"}", ""},
      {"gradient_bucket=25 MB,100 MB", ""},
      {"fused_kernels=true,false", ""},
      {"/model/hidden=1024,2048", ""},
      {"no.such.field=1,2", ""},  // the program knows all fields, the form does not
  };
  for (const Line& line : table) {
    CAPTURE(line.axis);
    AxisRow row(fields, line.axis);
    row.show();
    CAPTURE(row.why().toStdString());
    const bool can_be = *line.reason == '\0';
    CHECK(row.axis().has_value() == can_be);
    CHECK(row.why().contains(line.reason));
    CHECK(row.why().isEmpty() == can_be);
    bool visible = false;
    for (const QLabel* const label : row.findChildren<QLabel*>())
      visible = visible || (label->isVisible() && !can_be && label->text() == row.why());
    CHECK(visible != can_be);
  }
  AxisList list(fields);
  list.set_texts({"parallel.tensor=1,2", "batch.micro=1..x"});
  CHECK(list.problem().contains("batch.micro: 1..x: a whole number"));
  CHECK(list.points() == 0);
}

TEST_CASE("the axes of opened results stand in the rows, as they are written there if they are the same") {
  const std::vector<FormField> fields = form_fields({});
  AxisList list(fields);
  list.set_texts({"parallel.tensor=1..4*2", "batch.micro=1,2"});
  list.show_axes({{"parallel.tensor", {"1", "2", "4"}}, {"batch.micro", {"1", "2"}}});
  CHECK(list.texts() == QStringList{"parallel.tensor=1..4*2", "batch.micro=1,2"});
  list.show_axes({{"zero_stage", {"0", "3"}}});
  CHECK(list.texts() == QStringList{"zero_stage=0,3"});
  CHECK(list.points() == 2);
}
