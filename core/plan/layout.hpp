#pragma once
// Who is who among the ranks: Megatron's order, tensor fastest, then context, data, pipeline slowest
// (Megatron-LM parallel_state.py, order "tp-cp-ep-dp-pp"). The experts of a block lie on the same ranks by a second map
// of each pipeline rank's part: expert-tensor fastest, then expert, then expert-data. The only place where degrees are
// multiplied.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace stagecraft {

struct Degrees {
  std::int32_t tensor = 1, context = 1, data = 1, pipeline = 1;
  std::int32_t shard = 0;          // ranks of the data group that share one copy of sharded states; 0: all of them
  std::int32_t expert = 1;         // ranks that the experts of a block are spread over
  std::int32_t expert_tensor = 0;  // ranks that share one expert; 0: as many as tensor
  std::int32_t ulysses = 0;        // neighbours in the context group that exchange heads; 0: all of them
  std::int32_t secondary = 0;      // neighbours in the data group that hold a second shard (ZeRO++); 0: all of them

  friend bool operator==(const Degrees&, const Degrees&) = default;
};

enum class Axis : std::uint8_t {
  tensor,
  context,
  data,  // data-parallel group (with context: gradients are reduced over data x context)
  pipeline,
  shard,          // neighbours in the data group that share one copy of sharded states (hybrid sharding)
  replica,        // ranks of the data group that hold the same shard
  embedding,      // first and last pipeline rank of one column, if embeddings are tied and pp > 1
  expert,         // ranks that the experts of a block are spread over
  expert_tensor,  // ranks that share one expert
  expert_data,    // ranks that hold the same experts: their gradients are reduced over them
  ulysses,        // neighbours in the context group that exchange heads
  ring,           // ranks of the context group that pass keys and values round
  secondary,      // neighbours in the data group that hold a second shard of the parameters
};
inline constexpr std::size_t axis_count = 13;
const char* to_text(Axis axis);

struct Coordinates {
  std::int32_t tensor = 0, context = 0, data = 0, pipeline = 0;
};

/// Precondition of everything below: every degree is at least 1 and world_size fits 31 bits (plan/feasibility.hpp).
std::int64_t world_size(const Degrees& degrees);
Rank rank_at(const Degrees& degrees, const Coordinates& at);
Coordinates coordinates_of(const Degrees& degrees, Rank rank);

/// The ranks of the communicator of `axis` that holds `rank`, ascending. Axis::data spans data x context. Empty if no
/// communicator holds it (Axis::embedding on a middle pipeline rank).
std::vector<Rank> group_of(const Degrees& degrees, Axis axis, Rank rank);
std::int64_t group_size(const Degrees& degrees, Axis axis);

}  // namespace stagecraft
