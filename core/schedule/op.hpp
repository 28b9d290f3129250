#pragma once
// One operation of one pipeline rank. Duration never enters; shapes and bytes (of the body, of the message) do.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.hpp"
#include "base/units.hpp"

namespace stagecraft {

enum class OpKind : std::uint8_t {
  forward,          // F
  backward,         // B = input_grad + weight_grad
  input_grad,       // I
  weight_grad,      // W
  recompute,        // the forward once more, before B or I
  send_activation,  // SEND_F; the stage is the producer's
  recv_activation,  // RECV_F; the stage is the consumer's
  send_gradient,    // SEND_B; the stage is the producer's
  recv_gradient,    // RECV_B; the stage is the consumer's
  unshard,          // gather the sharded parameters of a stage
  reshard,          // drop them
  reduce_grad,      // reduce the gradients of a stage over the data group
  reduce_tied,      // add the gradients of embeddings held by two stages
  optimizer_step,   // once per rank
  gather_params,    // all-gather the updated parameters of a stage (ZeRO 1 and 2)
  offload,          // what F keeps for the backward pass, on its way to the host while F runs
  reload,           // the same on its way back while B, or recompute and B, run
  offload_grad,     // the reduced gradients of a stage to the host, where the optimizer steps
  reload_param,     // parameters of a stage from the host: updated ones, or those that are about to be gathered
};

/// What an operation occupies. Operations of one lane of one rank run in program order, one at a time;
/// for Lane::pipeline the unit of order is the channel, for Lane::copy the direction.
enum class Lane : std::uint8_t { compute, tensor, pipeline, data, copy };
const char* to_text(Lane lane);

/// The lane an operation of this kind runs on unless a pass says otherwise.
Lane usual_lane(OpKind kind);

struct Op {
  OpKind kind = OpKind::forward;
  Lane lane = Lane::compute;
  std::uint8_t replica = 0;    // of bidirectional schedules
  bool overlaps_next = false;  // this F and the next B form one OVERLAP_F_B pair
  Stage stage;
  MicroBatch micro_batch;  // none where has_micro_batch(kind) is false
  ChannelId channel;       // sends and receives, once channels are assigned
  BodyId body;             // none: the schedule has no model behind it
  Bytes bytes;             // of a message or copy, per rank of the tensor group; 0 for others
};

inline constexpr std::size_t op_kind_count = 19;

bool is_compute(OpKind kind);  // F, B, I, W, recompute, optimizer_step
bool is_send(OpKind kind);
bool is_receive(OpKind kind);
bool is_copy(OpKind kind);         // between GPU and host: offload, reload, offload_grad, reload_param
bool copies_to_host(OpKind kind);  // offload, offload_grad
bool has_micro_batch(OpKind kind);
bool has_stage(OpKind kind);  // all but optimizer_step

/// The word of a kind in text: "F", "SEND_F", "RECOMPUTE" ...
std::string_view word_of(OpKind kind);

/// How an operation is named in every trace and file: "2F5", "2SEND_F5", "1REDUCE_GRAD", "OPTIMIZER_STEP" ...,
/// PyTorch's grammar (torch.distributed.pipelining) where it has a word. Survives into predicted and measured traces,
/// which are joined on it.
std::string to_text(const Op& op);

/// An operation as its name alone tells it.
struct OpName {
  OpKind kind = OpKind::forward;
  Stage stage;             // none for OPTIMIZER_STEP
  MicroBatch micro_batch;  // none where the kind has none
  friend auto operator<=>(const OpName&, const OpName&) = default;
};

/// Reads exactly what to_text writes, the whole of it; numbers have at most nine digits.
std::optional<OpName> parse_op_name(std::string_view text);

/// Full identity of a span: step, operation, segment ("step1/2F5", "step1/2F5#14").
struct OpId {
  std::int32_t step = 0;
  OpKind kind = OpKind::forward;
  Stage stage;
  MicroBatch micro_batch;
  std::int32_t segment = -1;  // -1: the whole operation
  friend auto operator<=>(const OpId&, const OpId&) = default;
};
std::string to_text(const OpId& id);
std::optional<OpId> parse_op_id(std::string_view text);

}  // namespace stagecraft
