#pragma once
// A row of slices cut into columns of pixels.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/level_of_detail.hpp"

namespace stagecraft {

/// Bounds of `columns` columns of equal width from begin_ns on, each rounded to a nanosecond: columns + 1 numbers.
inline std::vector<std::int64_t> column_bounds(double begin_ns, double ns_per_column, int columns) {
  std::vector<std::int64_t> bounds;
  bounds.reserve(static_cast<std::size_t>(columns) + 1);
  constexpr double furthest = 9e18;  // a file may hold any times
  for (int k = 0; k <= columns; ++k) {
    const double bound = std::floor(begin_ns + k * ns_per_column + 0.5);
    bounds.push_back(static_cast<std::int64_t>(std::clamp(bound, -furthest, furthest)));
  }
  return bounds;
}

namespace detail {

/// Every column of a row that is dense: a column is the difference of two sums. The block that a sum needs is looked up
/// and asked for some columns ahead of need, since most of the time is spent waiting for memory.
template <std::size_t Slots, class Mixed>
void sum_columns(const SliceRow& row, std::span<const std::int64_t> bounds, Mixed&& mixed) {
  constexpr std::size_t ahead = 16;
  std::array<std::size_t, ahead> blocks;
  std::size_t found = 0;
  const auto look_up = [&](std::size_t k) {
    found = row.block_of(bounds[k], found);
    row.expect(found);
    blocks[k % ahead] = found;
  };
  for (std::size_t k = 0; k < std::min(ahead, bounds.size()); ++k) look_up(k);
  SliceRow::SlotTime until{}, next{}, time{};
  row.before(bounds[0], blocks[0], until);
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
    if (k + ahead < bounds.size()) look_up(k + ahead);
    if (bounds[k + 1] == bounds[k]) continue;
    row.before(bounds[k + 1], blocks[(k + 1) % ahead], next);
    for (std::size_t s = 0; s < Slots; ++s) time[s] = next[s] - until[s];
    for (std::size_t s = 0; s < Slots; ++s) until[s] = next[s];
    mixed(static_cast<int>(k), time);
  }
}

/// The column, not before `from`, that holds the time: bounds are about equally far apart.
inline std::size_t column_of(std::span<const std::int64_t> bounds, std::size_t from, std::int64_t time_ns) {
  const std::size_t columns = bounds.size() - 1;
  if (time_ns >= bounds[columns]) return columns;
  const double width = static_cast<double>(bounds[columns] - bounds[0]) / static_cast<double>(columns);
  const double guess = static_cast<double>(time_ns - bounds[0]) / width;
  std::size_t k = std::clamp(static_cast<std::size_t>(std::max(guess, 0.0)), from, columns);
  while (k > from && bounds[k] > time_ns) --k;
  while (bounds[k + 1] <= time_ns) ++k;
  return k;
}

/// Columns of a row from slice `i` on that holds few slices: a column is the sum of what of them lies within it.
template <std::size_t Slots, class Solid, class Mixed>
void cut_columns(const SliceRow& row, std::span<const std::int64_t> bounds, std::size_t i, Solid&& solid,
                 Mixed&& mixed) {
  const std::size_t columns = bounds.size() - 1;
  SliceRow::SlotTime time{};
  std::size_t k = 0;
  while (k < columns && i < row.size()) {
    const std::int64_t begin = row.begin_ns(i), end = row.end_ns(i);
    if (end <= bounds[k]) {
      ++i;
    } else if (begin >= bounds[k + 1]) {
      k = detail::column_of(bounds, k + 1, begin);
    } else if (begin <= bounds[k] && end >= bounds[k + 1]) {
      const std::size_t last = k + 1 < columns && end >= bounds[k + 2] ? detail::column_of(bounds, k + 2, end) : k + 1;
      solid(static_cast<int>(k), static_cast<int>(last), i);
      k = last;
    } else {
      for (std::size_t s = 0; s < Slots; ++s) time[s] = 0;
      for (; i < row.size() && row.begin_ns(i) < bounds[k + 1]; ++i) {
        row.add_part(i, bounds[k], bounds[k + 1], time);
        if (row.end_ns(i) > bounds[k + 1]) break;
      }
      mixed(static_cast<int>(k), time);
      ++k;
      row.expect(i / SliceRow::block_size + 8);
    }
  }
}

}  // namespace detail

/// Calls, from left to right, `solid(first, last, slice)` for columns [first, last) that lie within one slice and
/// `mixed(column, time)` for columns of which several slices, or a slice and a gap, have parts; `time` counts by the
/// slots of the row and adds up to at most the width of the column. Columns in which there is nothing are left out.
/// Where slices are dense, every column is `mixed`.
template <class Solid, class Mixed>
void sample_columns(const SliceRow& row, std::span<const std::int64_t> bounds, Solid&& solid, Mixed&& mixed) {
  const std::size_t columns = bounds.size() - 1;
  std::size_t i = row.first_ending_after(bounds[0]);
  if (i == row.size()) return;
  const std::size_t in_view = row.first_ending_after(bounds[columns]) - i;
  const bool few = row.slots().size() <= SliceRow::few_slots;
  if (in_view > 3 * columns) {
    if (few) return detail::sum_columns<SliceRow::few_slots>(row, bounds, mixed);
    return detail::sum_columns<slice_class_count + 1>(row, bounds, mixed);
  }
  if (few) return detail::cut_columns<SliceRow::few_slots>(row, bounds, i, solid, mixed);
  detail::cut_columns<slice_class_count + 1>(row, bounds, i, solid, mixed);
}

}  // namespace stagecraft
