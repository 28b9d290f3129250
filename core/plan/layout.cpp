#include "plan/layout.hpp"

namespace stagecraft {

const char* to_text(Axis axis) {
  switch (axis) {
    case Axis::tensor:
      return "tensor";
    case Axis::context:
      return "context";
    case Axis::data:
      return "data";
    case Axis::pipeline:
      return "pipeline";
    case Axis::shard:
      return "shard";
    case Axis::replica:
      return "replica";
    case Axis::embedding:
      return "embedding";
  }
  return "";
}

std::int64_t world_size(const Degrees& degrees) {
  return std::int64_t{degrees.tensor} * degrees.context * degrees.data * degrees.pipeline;
}

Rank rank_at(const Degrees& degrees, const Coordinates& at) {
  return Rank(at.tensor + degrees.tensor * (at.context + degrees.context * (at.data + degrees.data * at.pipeline)));
}

Coordinates coordinates_of(const Degrees& degrees, Rank rank) {
  std::int32_t rest = rank.value;
  Coordinates at;
  at.tensor = rest % degrees.tensor;
  rest /= degrees.tensor;
  at.context = rest % degrees.context;
  rest /= degrees.context;
  at.data = rest % degrees.data;
  at.pipeline = rest / degrees.data;
  return at;
}

std::vector<Rank> group_of(const Degrees& degrees, Axis axis, Rank rank) {
  Coordinates at = coordinates_of(degrees, rank);
  std::vector<Rank> members;
  switch (axis) {
    case Axis::tensor:
      for (at.tensor = 0; at.tensor < degrees.tensor; ++at.tensor) members.push_back(rank_at(degrees, at));
      break;
    case Axis::context:
      for (at.context = 0; at.context < degrees.context; ++at.context) members.push_back(rank_at(degrees, at));
      break;
    case Axis::data:
      for (at.data = 0; at.data < degrees.data; ++at.data) {
        for (at.context = 0; at.context < degrees.context; ++at.context) members.push_back(rank_at(degrees, at));
      }
      break;
    case Axis::shard:
    case Axis::replica: {
      // Place in the data group, context fastest; `shard` neighbours share one copy.
      const std::int32_t shard = static_cast<std::int32_t>(group_size(degrees, Axis::shard));
      const std::int32_t all = static_cast<std::int32_t>(group_size(degrees, Axis::data));
      const std::int32_t own = at.data * degrees.context + at.context;
      const bool neighbours = axis == Axis::shard;
      const std::int32_t first = neighbours ? own / shard * shard : own % shard;
      const std::int32_t end = neighbours ? first + shard : all;
      for (std::int32_t place = first; place < end; place += neighbours ? 1 : shard) {
        at.data = place / degrees.context;
        at.context = place % degrees.context;
        members.push_back(rank_at(degrees, at));
      }
      break;
    }
    case Axis::pipeline:
      for (at.pipeline = 0; at.pipeline < degrees.pipeline; ++at.pipeline) members.push_back(rank_at(degrees, at));
      break;
    case Axis::embedding: {
      const std::int32_t last = degrees.pipeline - 1;
      if (at.pipeline != 0 && at.pipeline != last) break;
      at.pipeline = 0;
      members.push_back(rank_at(degrees, at));
      if (last == 0) break;
      at.pipeline = last;
      members.push_back(rank_at(degrees, at));
      break;
    }
  }
  return members;
}

std::int64_t group_size(const Degrees& degrees, Axis axis) {
  switch (axis) {
    case Axis::tensor:
      return degrees.tensor;
    case Axis::context:
      return degrees.context;
    case Axis::data:
      return std::int64_t{degrees.data} * degrees.context;
    case Axis::shard:
      return degrees.shard > 0 ? degrees.shard : group_size(degrees, Axis::data);
    case Axis::replica:
      return group_size(degrees, Axis::data) / group_size(degrees, Axis::shard);
    case Axis::pipeline:
      return degrees.pipeline;
    case Axis::embedding:
      return degrees.pipeline > 1 ? 2 : 1;
  }
  return 1;
}

}  // namespace stagecraft
