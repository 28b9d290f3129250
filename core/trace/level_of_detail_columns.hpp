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

/// Calls, from left to right, `solid(first, last, slice)` for columns [first, last) that lie within one slice and
/// `mixed(column, time)` for columns of which several slices, or a slice and a gap, have parts; `time` counts by the
/// slots of the row and adds up to at most the width of the column. Columns in which there is nothing are left out.
/// Where slices are dense, every column is `mixed`.
template <class Solid, class Mixed>
void sample_columns(const SliceRow& row, std::span<const std::int64_t> bounds, Solid&& solid, Mixed&& mixed) {
  const std::size_t columns = bounds.size() - 1, slots = row.slots().size();
  std::size_t i = row.first_ending_after(bounds[0]);
  if (i == row.size()) return;
  const std::size_t in_view = row.first_ending_after(bounds[columns]) - i;
  SliceRow::SlotTime until, time;
  std::size_t block = i / SliceRow::block_size, k = 0, known = columns + 1;  // `until` is the sum before bounds[known]
  const auto mix = [&](std::size_t column) {
    if (known != column) block = row.before(bounds[column], block, until);
    SliceRow::SlotTime next;
    block = row.before(bounds[column + 1], block, next);
    for (std::size_t s = 0; s < slots; ++s) time[s] = next[s] - until[s];
    for (std::size_t s = 0; s < slots; ++s) until[s] = next[s];
    known = column + 1;
    mixed(static_cast<int>(column), time);
  };
  if (in_view > 3 * columns) {
    // Columns are about equally full: what will be wanted a few columns later is asked for ahead of need.
    const std::size_t ahead = std::max<std::size_t>(1, 8 * in_view / columns / SliceRow::block_size);
    for (; k < columns; ++k) {
      if (bounds[k + 1] > bounds[k]) mix(k);
      row.expect(block + ahead);
      row.expect(block + ahead + 1);
    }
    return;
  }
  const auto column_before = [&](std::size_t from, std::int64_t at) {
    const auto later = std::upper_bound(bounds.begin() + static_cast<std::ptrdiff_t>(from), bounds.end(), at);
    return static_cast<std::size_t>(later - bounds.begin()) - 1;
  };
  while (k < columns && i < row.size()) {
    const std::int64_t begin = row.begin_ns(i), end = row.end_ns(i);
    if (end <= bounds[k]) {
      ++i;
      continue;
    }
    if (begin >= bounds[k + 1]) {
      k = column_before(k, begin);
      continue;
    }
    if (begin <= bounds[k] && end >= bounds[k + 1]) {
      const std::size_t last = k + 1 < columns && end >= bounds[k + 2] ? column_before(k + 1, end) : k + 1;
      solid(static_cast<int>(k), static_cast<int>(last), i);
      k = last;
      continue;
    }
    mix(k);
    ++k;
  }
}

}  // namespace stagecraft
