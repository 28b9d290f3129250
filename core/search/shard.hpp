#pragma once
// A part of a sweep's points, for one job of several.

#include <cstdint>
#include <optional>
#include <string>

namespace stagecraft {

/// The index-th of count parts, from 1: point n belongs to part n mod count + 1.
struct Shard {
  std::int64_t index = 1, count = 1;
  bool operator==(const Shard&) const = default;
};

/// "2/8". Nothing unless index is from 1 to count, and count no more than most_points_of_a_sweep.
std::optional<Shard> parse_shard(const std::string& text);
std::string to_text(const Shard& shard);

bool holds(const Shard& shard, std::int64_t point);

/// How many of `total` points it has.
std::int64_t count_points(const Shard& shard, std::int64_t total);

}  // namespace stagecraft
