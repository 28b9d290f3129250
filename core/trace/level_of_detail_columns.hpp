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
  for (int k = 0; k <= columns; ++k) {
    bounds.push_back(static_cast<std::int64_t>(std::floor(begin_ns + k * ns_per_column + 0.5)));
  }
  return bounds;
}

/// Calls, from left to right, `solid(first, last, slice)` for columns [first, last) that lie within one slice and
/// `mixed(column, time)` for columns of which several slices, or a slice and a gap, have parts; `time` adds up to at
/// most the width of the column. Columns in which there is nothing are left out.
template <class Solid, class Mixed>
void sample_columns(const SliceRow& row, std::span<const std::int64_t> bounds, Solid&& solid, Mixed&& mixed) {
  const std::size_t columns = bounds.size() - 1;
  std::size_t i = row.first_ending_after(bounds[0]);
  std::size_t k = 0;
  TimeByClass time{};
  while (k < columns && i < row.size()) {
    const std::int64_t begin = row.begin_ns(i), end = row.end_ns(i);
    if (end <= bounds[k]) {  // columns narrower than a nanosecond
      i = row.first_ending_after(bounds[k]);
      continue;
    }
    if (begin >= bounds[k + 1]) {
      k = static_cast<std::size_t>(
              std::upper_bound(bounds.begin() + static_cast<std::ptrdiff_t>(k), bounds.end(), begin) - bounds.begin()) -
          1;
      continue;
    }
    if (begin <= bounds[k] && end >= bounds[k + 1]) {
      std::size_t last = k + 1;
      if (last < columns && end >= bounds[last + 1]) {
        last = static_cast<std::size_t>(
                   std::upper_bound(bounds.begin() + static_cast<std::ptrdiff_t>(last), bounds.end(), end) -
                   bounds.begin()) -
               1;
      }
      solid(static_cast<int>(k), static_cast<int>(last), i);
      k = last;
      if (end <= bounds[k]) ++i;
      continue;
    }
    time.fill(0);
    i = row.add_between(i, bounds[k], bounds[k + 1], time);
    mixed(static_cast<int>(k), time);
    ++k;
  }
}

}  // namespace stagecraft
