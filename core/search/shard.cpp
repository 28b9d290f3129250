#include "search/shard.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "search/axis.hpp"

namespace stagecraft {

std::optional<Shard> parse_shard(const std::string& text) {
  Shard shard;
  char rest = 0;
  const bool read = std::sscanf(text.c_str(), "%ld/%ld%c", &shard.index, &shard.count, &rest) == 2;
  if (!read || shard.count < 1 || shard.count > most_points_of_a_sweep) return std::nullopt;
  if (shard.index < 1 || shard.index > shard.count) return std::nullopt;
  return shard;
}

std::string to_text(const Shard& shard) {
  return fmt::format("{}/{}", shard.index, shard.count);
}

bool holds(const Shard& shard, std::int64_t point) {
  return point % shard.count == shard.index - 1;
}

std::int64_t count_points(const Shard& shard, std::int64_t total) {
  return (total - shard.index + shard.count) / shard.count;
}

}  // namespace stagecraft
