// Models of traces, without widgets.
#include <QAbstractItemModelTester>
#include <QPainter>
#include <catch2/catch.hpp>
#include <limits>

#include "gui/models/trace_area_model.hpp"
#include "gui/models/trace_compare.hpp"
#include "gui/models/trace_counters.hpp"
#include "gui/models/trace_link_load.hpp"
#include "gui/models/trace_slice_table.hpp"
#include "gui/timeline/memory_raster.hpp"
#include "gui/timeline/paint_timeline.hpp"
#include "gui/timeline/rows.hpp"
#include "gui_traces.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

constexpr auto strict = QAbstractItemModelTester::FailureReportingMode::Fatal;

QString text_at(const QAbstractItemModel& model, int row, int column) {
  return model.data(model.index(row, column), Qt::DisplayRole).toString();
}

}  // namespace

TEST_CASE("the table of slices has a line for every span and keeps the rules of models") {
  const auto loaded = pipeline_trace(2, 3);
  SliceTableModel model;
  QAbstractItemModelTester tester(&model, strict);
  CHECK(model.rowCount() == 0);
  model.set_trace(loaded.get());
  CHECK(model.rowCount() == static_cast<int>(loaded->trace.spans.size()));
  CHECK(text_at(model, 0, 0) == "0F0");
  CHECK(text_at(model, 0, 7) == "1 ms");
  CHECK(model.data(model.index(0, 7), Qt::UserRole).toDouble() == Approx(1e-3));
  model.set_filter(0, 1, "SEND_B");
  CHECK(model.rowCount() == 3);
  CHECK(loaded->trace.spans[model.span_of(0)].kind == OpKind::send_gradient);
  model.set_filter(0, 0.5e-3, "");
  CHECK(model.rowCount() == 1);
  CHECK(model.span_of(99) == no_span);
  model.set_trace(nullptr);
  CHECK(model.rowCount() == 0);
}

TEST_CASE("the table of an area adds up to the area") {
  const auto loaded = pipeline_trace(2, 3);
  AreaModel model;
  QAbstractItemModelTester tester(&model, strict);
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t i = 0; i < loaded->lanes.size(); ++i) {
    if (loaded->lanes[i].lane == Lane::compute) lanes.push_back(i);
  }
  const AreaSums sums = sum_area(*loaded, lanes, loaded->trace.begin_s, loaded->trace.end_s);
  CHECK(sums.ranks.size() == 2);
  CHECK(total(sums.sum) == 2 * nanoseconds(loaded->trace.end_s));
  model.set_sums(sums);
  REQUIRE(model.rowCount() == 3);
  double seconds = 0;
  for (int column = 1; column < model.columnCount(); ++column) {
    seconds += model.data(model.index(0, column), Qt::UserRole).toDouble();
  }
  CHECK(seconds == Approx(2 * loaded->trace.end_s));
  model.set_sums({});
  CHECK(model.rowCount() == 0);
}

TEST_CASE("slack is what an operation can be late without delaying the end") {
  const auto loaded = pipeline_trace(2, 2);
  // Rank 0: F0 0..1, F1 1..2; rank 1: F0 1.1..2.1, B0 2.1..4.1, F1 4.1..5.1, B1 5.1..7.1; rank 0: B0 4.2..6.2,
  // B1 7.2..9.2.
  CHECK(loaded->trace.end_s == Approx(9.2e-3));
  const auto slack = [&](const char* name) {
    for (std::uint32_t i = 0; i < loaded->trace.spans.size(); ++i) {
      if (short_name(loaded->trace, loaded->trace.spans[i]) == name) return static_cast<double>(loaded->slack_s[i]);
    }
    FAIL("no span " << name);
    return 0.0;
  };
  CHECK(slack("0F0") == Approx(0).margin(1e-9));
  CHECK(slack("1B1") == Approx(0).margin(1e-9));
  CHECK(slack("0B1") == Approx(0).margin(1e-9));
  CHECK(slack("0B0") == Approx(1e-3));  // ends at 6.2, has to by 7.2
  CHECK(slack("0F1") == Approx(2e-3));  // its message is awaited at 4.1, sent by 4.0
  CHECK(loaded->is_critical[loaded->critical.front()]);
  CHECK(short_name(loaded->trace, loaded->trace.spans[loaded->critical.back()]) == "0B1");
}

TEST_CASE("rows are nodes, ranks, lanes, and fold") {
  const auto loaded = pipeline_trace(4, 2);
  RowOptions options;
  const std::vector<Row> rows = make_rows({loaded.get()}, options);
  std::vector<std::string> labels;
  for (const Row& row : rows) labels.push_back(row.label);
  CHECK(labels == std::vector<std::string>{"node 0", "rank 0", "pipeline", "memory", "rank 1", "pipeline", "memory",
                                           "node 1", "rank 2", "pipeline", "memory", "rank 3", "pipeline", "memory"});
  options.folded = {"0/node0", "0/node1/rank3"};
  labels.clear();
  for (const Row& row : make_rows({loaded.get()}, options)) labels.push_back(row.label);
  CHECK(labels == std::vector<std::string>{"node 0", "node 1", "rank 2", "pipeline", "memory", "rank 3"});
  CHECK(row_at(rows, rows[3].y) == 3);
  CHECK(row_at(rows, rows[3].y - 1) == rows.size());
  CHECK(row_at(rows, -5) == rows.size());
  CHECK(row_at(rows, total_height(rows) + 10) == rows.size());
}

TEST_CASE("the memory curve of a rank is the sum of its classes, and its peak is explained") {
  const auto loaded = pipeline_trace(2, 4);
  REQUIRE(loaded->memory.size() == 2);
  const MemoryCurve& curve = loaded->memory[0];
  CHECK(curve.classes == std::vector<std::string>{"parameters", "optimizer_states", "activations"});
  // Two micro-batches in flight on the first of two ranks, 4 GiB each; 8 + 16 GiB of states.
  CHECK(curve.total[curve.peak] == Approx(32.0 * 1024 * 1024 * 1024));
  CHECK(peak_text(curve).find("32 GiB at 1 ms: optimizer states 16 GiB") == 0);
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
}

TEST_CASE("the bytes of a link are the integral of its rate") {
  const LinkCurve curve{"node0/nic0/up", {0, 1, 3}, {0, 10, 0}};
  CHECK(bytes_between(curve, 0, 4) == Approx(20));
  CHECK(bytes_between(curve, 1.5, 2) == Approx(5));
  CHECK(bytes_between(curve, 5, 6) == Approx(0));
  CHECK(bytes_between(curve, -1, 0.5) == Approx(0));
}

TEST_CASE("two traces are compared class by class, kind by kind, operation by operation") {
  const auto a = pipeline_trace(2, 2);
  Trace slower = pipeline(2, 2);
  for (Span& span : slower.spans) {  // twice as slow
    span.begin_s *= 2;
    span.end_s *= 2;
    span.tensor_s *= 2;
  }
  slower.end_s *= 2;
  slower.step_end_s[0] *= 2;
  const auto b = make_loaded_trace(std::move(slower), "slow");
  const Comparison comparison = compare(*a, *b);
  CHECK(comparison.alignment.pairs.size() == a->trace.spans.size());
  CHECK(headline(comparison).contains("A is 50.0 % faster"));

  PlainTableModel model;
  QAbstractItemModelTester tester(&model, strict);
  model.set_table(class_table(comparison));
  const int last = model.rowCount() - 1;
  double sum = 0;
  for (int row = 0; row < last; ++row) sum += model.data(model.index(row, 3), Qt::UserRole).toDouble();
  CHECK(sum == Approx(model.data(model.index(last, 3), Qt::UserRole).toDouble()));
  CHECK(sum == Approx(-9.2e-3));

  model.set_table(kind_table(comparison));
  CHECK(text_at(model, 0, 0) == "F");
  CHECK(text_at(model, 0, 4) == "-50.0 %");
  model.set_table(operation_table(*a, *b, comparison));
  CHECK(text_at(model, 0, 4) == "-2 ms");  // a backward
  CHECK(model.tag_of(0) < comparison.alignment.pairs.size());

  const AlignedPair pair = comparison.alignment.pairs[3];
  const auto shift = shift_to_operation(*a, *b, comparison, true, pair.predicted);
  REQUIRE(shift);
  CHECK(b->trace.spans[pair.measured].begin_s + *shift == Approx(a->trace.spans[pair.predicted].begin_s));
  CHECK_FALSE(shift_to_operation(*a, *b, comparison, true, no_span));
}

TEST_CASE("what is shown as the same is equal, and a difference below a tenth of a percent is told as such") {
  const auto a = pipeline_trace(2, 2);
  const auto longer_by = [&](double seconds) {
    Trace trace = pipeline(2, 2);
    trace.spans.front().end_s += seconds;
    trace.end_s += seconds;
    trace.step_end_s[0] += seconds;
    return compare(*a, *make_loaded_trace(std::move(trace), "longer"));
  };
  const Comparison same = longer_by(1e-10);
  CHECK(headline(same).contains(": equal."));
  PlainTableModel model;
  model.set_table(class_table(same));
  for (int row = 0; row < model.rowCount(); ++row) {
    CHECK(text_at(model, row, 3) == "0 s");
    CHECK(text_at(model, row, 4) == "0.0 %");
  }
  model.set_table(kind_table(same));
  for (int row = 0; row < model.rowCount(); ++row) CHECK(text_at(model, row, 6) == "0 s");
  CHECK(headline(longer_by(4e-6)).contains(": A is less than 0.1 % faster."));
}

TEST_CASE("with another tensor degree each rank stands over the same pipeline rank of the other trace") {
  const auto with_ranks = [](std::int32_t stride, const char* name) {
    Trace trace = pipeline(4, 4);
    for (Span& span : trace.spans) span.rank *= stride;
    trace.counters.clear();
    for (TraceRank& rank : trace.ranks) rank = {rank.rank * stride, rank.pipeline_rank, 0, stride};
    return make_loaded_trace(std::move(trace), name);
  };
  const auto a = with_ranks(16, "TP 8"), b = with_ranks(8, "TP 4");
  std::vector<std::string> labels;
  for (const Row& row : make_rows({a.get(), b.get()}, {})) {
    if (row.kind == RowKind::rank) labels.push_back(row.label);
  }
  CHECK(labels == std::vector<std::string>{"A rank 0", "B rank 0", "A rank 16", "B rank 8", "A rank 32", "B rank 16",
                                           "A rank 48", "B rank 24"});
  const Comparison comparison = compare(*a, *b);
  CHECK(headline(comparison).endsWith(QString(": equal. %1 operations in both").arg(a->trace.spans.size())));
  const PlainTable table = operation_table(*a, *b, comparison);
  const auto differing = std::find_if(table.lines.begin(), table.lines.end(),
                                      [](const std::vector<Cell>& line) { return line[1].text == "16, 8"; });
  CHECK(differing != table.lines.end());
  // A rank without a partner comes after the one before it.
  Trace more = pipeline(3, 4);
  const auto c = make_loaded_trace(std::move(more), "three");
  const auto d = pipeline_trace(4, 4);
  labels.clear();
  for (const Row& row : make_rows({c.get(), d.get()}, {})) {
    if (row.kind == RowKind::rank) labels.push_back(row.label);
  }
  CHECK(labels.back() == "B rank 3");
  CHECK(labels[4] == "A rank 2");
}

TEST_CASE("counters and times of any value are drawn without harm") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  Trace trace = pipeline(2, 2);
  trace.counters.push_back({"memory/odd", "B", 0, {3e-3, 1e-3, 2e-3}, {nan, infinite, -5}});
  trace.spans.back().end_s = 1e300;
  trace.end_s = trace.step_end_s[0] = 1e300;
  sort_spans(trace);
  const auto loaded = make_loaded_trace(std::move(trace), "odd");
  const QSize size(400, 300);
  TimelineView view = whole_view({{loaded.get(), 0}}, size, false, test_font());
  QImage image(size, QImage::Format_RGB32);
  for (const double begin : {0.0, 1e300, -1e300}) {
    view.axis = fitted(view.axis, begin, begin, {begin, begin});
    QPainter painter(&image);
    paint_timeline(painter, size, view);
    CHECK(view.axis.end_s > view.axis.begin_s);
  }
}
