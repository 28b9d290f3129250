#include "trace/level_of_detail.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "hand_made.hpp"
#include "trace/level_of_detail_columns.hpp"
#include "trace/level_of_detail_rows.hpp"
#include "trace/summary.hpp"

using namespace stagecraft;

namespace {

std::int64_t at(const TimeByClass& time, SliceClass kind) {
  return time[static_cast<std::size_t>(kind)];
}

/// n slices of uneven lengths with gaps, classes in turn, every fifth with a tensor part.
SliceRow uneven_row(int n, std::int64_t scale = 1) {
  SliceRow row;
  std::int64_t time = 5;
  for (int i = 0; i < n; ++i) {
    const std::int64_t length = scale * (1 + (i * 37) % 23);
    const std::int64_t tensor = i % 5 == 0 ? length / 3 : 0;
    row.append({time, time + length, tensor, static_cast<SliceClass>(i % 6), static_cast<std::uint32_t>(i)});
    time += length + (i % 4 == 0 ? 3 : 0);
  }
  return row;
}

TimeByClass sum_of_columns(const SliceRow& row, const std::vector<std::int64_t>& bounds) {
  TimeByClass sum{};
  int next = 0;
  sample_columns(
      row, bounds,
      [&](int first, int last, std::size_t slice) {
        CHECK(first >= next);
        CHECK(last > first);
        next = last;
        const std::int64_t from = bounds[static_cast<std::size_t>(first)], to = bounds[static_cast<std::size_t>(last)];
        CHECK(row.begin_ns(slice) <= from);
        CHECK(row.end_ns(slice) >= to);
        const TimeByClass inside = row.between(from, to);
        for (std::size_t i = 0; i < slice_class_count; ++i) sum[i] += inside[i];
      },
      [&](int column, const SliceRow::SlotTime& time) {
        CHECK(column >= next);
        next = column + 1;
        const auto k = static_cast<std::size_t>(column);
        TimeByClass of_column{};
        row.add(time, of_column);
        CHECK(total(of_column) <= bounds[k + 1] - bounds[k]);
        for (std::size_t i = 0; i < slice_class_count; ++i) sum[i] += of_column[i];
      });
  return sum;
}

}  // namespace

TEST_CASE("a row is summed over any stretch of time") {
  SliceRow row;
  row.append({10, 20, 0, SliceClass::forward, 0});
  row.append({20, 40, 10, SliceClass::backward, 1});
  row.append({50, 60, 0, SliceClass::forward, 2});

  CHECK(at(row.sum(), SliceClass::forward) == 20);
  CHECK(at(row.sum(), SliceClass::backward) == 10);
  CHECK(at(row.sum(), SliceClass::tensor) == 10);
  CHECK(total(row.between(0, 100)) == 40);
  CHECK(total(row.between(40, 50)) == 0);
  // Half of the second slice: 10 ns, of which half are tensor communication.
  const TimeByClass half = row.between(15, 30);
  CHECK(at(half, SliceClass::forward) == 5);
  CHECK(at(half, SliceClass::backward) == 5);
  CHECK(at(half, SliceClass::tensor) == 5);
  CHECK(total(row.between(30, 30)) == 0);
  CHECK(total(row.between(30, 20)) == 0);
}

TEST_CASE("a slice is found by a time that it holds") {
  const SliceRow row = uneven_row(100);
  for (std::size_t i = 0; i < row.size(); ++i) {
    CHECK(row.at(row.begin_ns(i)) == i);
    CHECK(row.at(row.end_ns(i) - 1) == i);
    CHECK(row.first_ending_after(row.end_ns(i)) == i + 1);
  }
  CHECK(row.at(0) == row.size());
  CHECK(row.first_ending_after(0) == 0);
  CHECK(row.at(row.end_ns(row.size() - 1)) == row.size());
}

TEST_CASE("the columns of a row add up to what the row adds up to, at every zoom") {
  const int slices = GENERATE(1, 15, 16, 17, 33, 500);
  const SliceRow row = uneven_row(slices);
  const double end = static_cast<double>(row.end_ns(row.size() - 1)) + 7;
  const int columns = GENERATE(1, 2, 7, 160, 1600);
  CAPTURE(slices, columns);
  CHECK(sum_of_columns(row, column_bounds(0, end / columns, columns)) == row.sum());
}

TEST_CASE("columns that show a part of a row add up to that part") {
  const SliceRow row = uneven_row(500);
  for (const double begin : {-100.0, 17.3, 1000.5, 3333.0}) {
    for (const double width : {0.25, 1.0, 3.7, 50.0}) {
      const std::vector<std::int64_t> bounds = column_bounds(begin, width, 64);
      CAPTURE(begin, width);
      CHECK(sum_of_columns(row, bounds) == row.between(bounds.front(), bounds.back()));
    }
  }
}

TEST_CASE("slices of seconds and of hours are summed as exactly as those of nanoseconds") {
  for (const std::int64_t scale : {std::int64_t{100'000'000}, std::int64_t{3'000'000'000'000}}) {
    const SliceRow row = uneven_row(200, scale);
    const std::int64_t end = row.end_ns(row.size() - 1);
    for (std::size_t i = 0; i < row.size(); ++i) {
      REQUIRE(row.end_ns(i) - row.begin_ns(i) == scale * (1 + (static_cast<std::int64_t>(i) * 37) % 23));
    }
    CHECK(row.between(0, end) == row.sum());
    CHECK(sum_of_columns(row, column_bounds(0, static_cast<double>(end) / 77, 78)) == row.sum());
  }
}

TEST_CASE("any stretch of a row is the sum of its slices cut to it") {
  const SliceRow row = uneven_row(300);
  for (std::int64_t from = 0; from < 3000; from += 61) {
    for (std::int64_t to = from; to < 4000; to += 97) {
      std::int64_t slow = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        slow += std::max<std::int64_t>(0, std::min(to, row.end_ns(i)) - std::max(from, row.begin_ns(i)));
      }
      REQUIRE(total(row.between(from, to)) == slow);
    }
  }
}

TEST_CASE("times beyond all clocks do not overflow") {
  CHECK(nanoseconds(1e300) == 9'000'000'000'000'000);
  CHECK(nanoseconds(-1e300) == -9'000'000'000'000'000);
  CHECK(nanoseconds(1.5e-9) == 2);
}

TEST_CASE("within a step the colours of a compute row add up to the rank's breakdown") {
  // Two stages, two micro-batches; the second rank waits for a message that takes 0.1 s, the first for a gradient.
  HandMade make;
  const auto f0 = make.add(0, OpKind::forward, 0, 0, 0.0, 1.0);
  const auto f1 = make.add(0, OpKind::forward, 0, 1, 1.0, 2.0, {f0});
  const auto s0 = make.add(0, OpKind::send_activation, 0, 0, 1.0, 1.1, {f0});
  const auto s1 = make.add(0, OpKind::send_activation, 0, 1, 2.0, 2.1, {f1});
  const auto g0 = make.add(1, OpKind::forward, 1, 0, 1.1, 2.1, {s0});
  const auto b0 = make.add(1, OpKind::backward, 1, 0, 2.1, 4.1, {g0});
  const auto g1 = make.add(1, OpKind::forward, 1, 1, 4.1, 5.1, {b0, s1});
  const auto b1 = make.add(1, OpKind::backward, 1, 1, 5.1, 7.1, {g1});
  const auto t0 = make.add(1, OpKind::send_gradient, 1, 0, 4.1, 4.2, {b0});
  const auto t1 = make.add(1, OpKind::send_gradient, 1, 1, 7.1, 7.2, {b1});
  const auto c0 = make.add(0, OpKind::backward, 0, 0, 4.2, 6.2, {t0});
  const auto c1 = make.add(0, OpKind::backward, 0, 1, 7.2, 9.2, {c0, t1});
  make.add(0, OpKind::reduce_grad, 0, -1, 9.2, 9.7, {c1});
  make.trace.spans[c1].tensor_s = 0.5;
  make.trace.spans[b0].inner = make.trace.spans[f1].inner = index_of(make.trace.inner, {0.125, 0.25, 0.0625, 0.0625});
  make.trace.spans[c1].inner = index_of(make.trace.inner, {0, 0, 0.375, 0});
  const Trace trace = make.finish();

  const Summary summary = summarise(trace);
  const std::vector<LaneRow> rows = lane_rows(trace, predecessors_of(trace));
  std::size_t compared = 0;
  for (const LaneRow& row : rows) {
    if (row.lane != Lane::compute) continue;
    const RankSummary& rank = summary.ranks[static_cast<std::size_t>(row.rank)];
    const Breakdown seconds =
        breakdown_of(row.slices.between(nanoseconds(summary.begin_s), nanoseconds(summary.end_s)));
    CHECK(total(seconds) == Approx(summary.step_s));
    for (std::size_t i = 0; i < time_class_count; ++i) {
      CAPTURE(row.rank, key_of(static_cast<TimeClass>(i)));
      CHECK(seconds[i] == Approx(rank.seconds[i]).margin(1e-12));
    }
    ++compared;
  }
  CHECK(compared == 2);
}

TEST_CASE("a compute row shows why it waited, when it waited") {
  HandMade make;
  const auto f = make.add(0, OpKind::forward, 0, 0, 0.0, 1.0);
  const auto s = make.add(0, OpKind::send_activation, 0, 0, 1.0, 1.25, {f});
  make.add(1, OpKind::forward, 1, 0, 1.25, 2.0, {s});
  const Trace trace = make.finish();
  const std::vector<LaneRow> rows = lane_rows(trace, predecessors_of(trace));
  const auto row =
      std::find_if(rows.begin(), rows.end(), [](const LaneRow& r) { return r.rank == 1 && r.lane == Lane::compute; });
  REQUIRE(row != rows.end());
  REQUIRE(row->slices.size() == 3);
  CHECK(row->slices[0].kind == SliceClass::bubble_warmup);  // the producer computes
  CHECK(row->slices[0].end_ns == 1'000'000'000);
  CHECK(row->slices[1].kind == SliceClass::awaits_pipeline);  // its message is on the way
  CHECK(row->slices[1].end_ns == 1'250'000'000);
  CHECK(row->slices[2].kind == SliceClass::forward);
}

TEST_CASE("a cycle of dependencies from a file ends") {
  HandMade make;
  const auto a = make.add(0, OpKind::send_activation, 0, 0, 1.0, 1.0);
  const auto b = make.add(1, OpKind::recv_activation, 1, 0, 1.0, 1.0, {a});
  make.add(1, OpKind::forward, 1, 0, 2.0, 3.0, {b});
  make.trace.dependencies.push_back({b, a});
  const Trace trace = make.finish();
  CHECK(lane_rows(trace, predecessors_of(trace)).size() == 1);
}
