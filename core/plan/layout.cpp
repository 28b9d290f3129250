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
    case Axis::expert:
      return "expert";
    case Axis::expert_tensor:
      return "expert-tensor";
    case Axis::expert_data:
      return "expert-data";
    case Axis::ulysses:
      return "ulysses";
    case Axis::ring:
      return "ring";
    case Axis::secondary:
      return "secondary";
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

namespace {

/// Neighbours of the data group (context fastest) in runs of `run`, or, across them, the ranks at the same place.
void add_places(const Degrees& degrees, Coordinates at, std::int32_t run, bool neighbours, std::vector<Rank>& members) {
  const std::int32_t all = degrees.data * degrees.context;
  const std::int32_t own = at.data * degrees.context + at.context;
  const std::int32_t first = neighbours ? own / run * run : own % run;
  const std::int32_t end = neighbours ? first + run : all;
  for (std::int32_t place = first; place < end; place += neighbours ? 1 : run) {
    at.data = place / degrees.context;
    at.context = place % degrees.context;
    members.push_back(rank_at(degrees, at));
  }
}

/// The second map of a pipeline rank's part: expert-tensor fastest, then expert, then expert-data.
void add_expert_group(const Degrees& degrees, Axis axis, Rank rank, std::vector<Rank>& members) {
  const auto part = static_cast<std::int32_t>(world_size(degrees) / degrees.pipeline);
  const auto tensor = static_cast<std::int32_t>(group_size(degrees, Axis::expert_tensor));
  const std::int32_t expert = degrees.expert, both = tensor * expert;
  const std::int32_t base = rank.value / part * part, own = rank.value % part;
  const std::int32_t stride = axis == Axis::expert_tensor ? 1 : axis == Axis::expert ? tensor : both;
  const std::int32_t count = axis == Axis::expert_tensor ? tensor : axis == Axis::expert ? expert : part / both;
  const std::int32_t first = own - own / stride % count * stride;
  for (std::int32_t i = 0; i < count; ++i) members.emplace_back(base + first + i * stride);
}

}  // namespace

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
    case Axis::replica:
      add_places(degrees, at, static_cast<std::int32_t>(group_size(degrees, Axis::shard)), axis == Axis::shard,
                 members);
      break;
    case Axis::secondary:
      add_places(degrees, at, static_cast<std::int32_t>(group_size(degrees, axis)), true, members);
      break;
    case Axis::ulysses:
    case Axis::ring: {
      const auto heads = static_cast<std::int32_t>(group_size(degrees, Axis::ulysses));
      const bool neighbours = axis == Axis::ulysses;
      const std::int32_t first = neighbours ? at.context / heads * heads : at.context % heads;
      const std::int32_t end = neighbours ? first + heads : degrees.context;
      for (at.context = first; at.context < end; at.context += neighbours ? 1 : heads) {
        members.push_back(rank_at(degrees, at));
      }
      break;
    }
    case Axis::expert:
    case Axis::expert_tensor:
    case Axis::expert_data:
      add_expert_group(degrees, axis, rank, members);
      break;
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
    case Axis::expert:
      return degrees.expert;
    case Axis::expert_tensor:
      return degrees.expert_tensor > 0 ? degrees.expert_tensor : degrees.tensor;
    case Axis::expert_data:
      return std::int64_t{degrees.tensor} * degrees.context * degrees.data /
             (degrees.expert * group_size(degrees, Axis::expert_tensor));
    case Axis::ulysses:
      return degrees.ulysses > 0 ? degrees.ulysses : degrees.context;
    case Axis::ring:
      return degrees.context / group_size(degrees, Axis::ulysses);
    case Axis::secondary:
      return degrees.secondary > 0 ? degrees.secondary : group_size(degrees, Axis::data);
  }
  return 1;
}

}  // namespace stagecraft
