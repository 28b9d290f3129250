#pragma once
// (source rank, destination rank [, activation | gradient]) as dense indices, by the boundary that a message passes.

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace stagecraft {

constexpr bool carries_gradient(OpKind kind) {
  return kind == OpKind::send_gradient || kind == OpKind::recv_gradient;
}

/// The boundary between stages s and s+1 that a message passes, as s. Precondition: a send or receive between stages
/// that exist.
inline std::size_t boundary_of(const Op& op) {
  const bool from_below = op.kind == OpKind::send_activation || op.kind == OpKind::recv_gradient;
  return from_below ? op.stage.index() : op.stage.index() - 1;
}

struct ChannelTable {
  std::vector<Channel> channels;       // ascending by (from, to, gradient)
  std::vector<ChannelId> by_boundary;  // [(replica * boundaries + boundary) * 2 + gradient]; none within a rank
  std::size_t boundaries = 0;

  ChannelId of(const Op& message) const {
    return by_boundary[(message.replica * boundaries + boundary_of(message)) * 2 +
                       (carries_gradient(message.kind) ? 1 : 0)];
  }
};

/// `by_kind` false: activations and gradients of a directed pair of ranks share a channel (gradient = false).
ChannelTable make_channel_table(const Schedule& schedule, bool by_kind);

}  // namespace stagecraft
