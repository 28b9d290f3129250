#pragma once
// Index types. Each names what it indexes, so that a stage is never used where a rank is meant.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace stagecraft {

template <class Tag>
struct Id {
  std::int32_t value = -1;

  constexpr Id() = default;  // none
  constexpr explicit Id(std::int32_t v) : value(v) {}
  constexpr explicit Id(std::size_t v) : value(static_cast<std::int32_t>(v)) {}
  static constexpr Id none() { return {}; }
  constexpr bool valid() const { return value >= 0; }
  constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using Rank = Id<struct RankTag>;              // one process of the whole job: 0 .. tp*cp*dp*pp-1
using PipelineRank = Id<struct PipelineTag>;  // a position along the pipeline axis: 0 .. pp-1
using Stage = Id<struct StageTag>;            // a slice of the model: 0 .. pp*v-1
using MicroBatch = Id<struct MicroBatchTag>;  // 0 .. m-1 within one step of one data-parallel rank
using GpuId = Id<struct GpuTag>;              // a GPU of the cluster
using NodeId = Id<struct NodeTag>;            // a machine of the cluster
using LinkId = Id<struct LinkTag>;            // one direction of a wire
using GroupId = Id<struct GroupTag>;          // a communicator, see plan/plan.hpp
using BodyId = Id<struct BodyTag>;            // see schedule/body.hpp
using ChannelId = Id<struct ChannelTag>;      // see schedule/schedule.hpp

}  // namespace stagecraft
