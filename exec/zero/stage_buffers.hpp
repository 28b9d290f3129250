#pragma once
// The flat tensors of one stage: values, gradients, optimizer states; whole or cut over the data group. ZeRO stage 1
// cuts the optimizer states, 2 frees the whole gradient once it is reduced, 3 gathers the values only while they are
// used (arXiv 1910.02054, section 5). Nothing is cut less than asked for: buffers are padded instead.

#include <vector>

#include "exec/model/flat_layout.hpp"
#include "exec/model/stage_model.hpp"
#include "exec/transport/transport.hpp"

namespace stagecraft {

struct BufferPolicy {
  std::int64_t zero_stage = 0;
  at::ScalarType value = at::kFloat;
  at::ScalarType gradient = at::kFloat;
  at::ScalarType state = at::kFloat;  // moments, and the master copy if there is one
  bool master_copy = false;           // values are 16 bit and updated through a copy in `state`
  at::Device device = at::kCPU;
  std::int64_t bucket_elements = 1 << 20;
  std::uint64_t seed = 1;
};

struct StageBuffers {
  StageModel* model = nullptr;
  BufferPolicy policy;
  FlatLayout layout;
  Transport* transport = nullptr;
  Group data, tensor;
  at::Tensor values;          // [elements]; undefined while resharded (ZeRO 3)
  at::Tensor value_shard;     // [elements / ranks], ZeRO 3 only
  at::Tensor gradients;       // [elements]; under ZeRO 2 and 3 only from the first gradient of a step to its reduction
  at::Tensor gradient_shard;  // [elements / ranks], ZeRO 1 to 3
  at::Tensor master;          // [owned elements], if policy.master_copy
  at::Tensor first_moment, second_moment;  // [owned elements]
  bool partial_sums_done = false;          // gradients of TensorRole::partial are summed over the tensor group
};

/// Part of the buffer that this rank updates, and where its states lie.
struct OwnedPiece {
  FlatSpan at;                   // in the whole buffer
  std::int64_t state_begin = 0;  // in the states (and in value_shard, gradient_shard)
};
std::vector<OwnedPiece> owned_pieces(const StageBuffers& buffers);
/// The gradient of a piece once it is reduced, and the value that an update writes.
at::Tensor reduced_gradient(const StageBuffers& buffers, const OwnedPiece& piece);
at::Tensor updated_value(const StageBuffers& buffers, const OwnedPiece& piece);

/// Makes the tensors, writes initial values, points the parameters at their places.
StageBuffers make_stage_buffers(StageModel& model, const BufferPolicy& policy, Transport& transport, const Group& data,
                                const Group& tensor, bool tied_counts);

/// Gradients are zero and have their memory. Called before each step; under ZeRO 2 and 3 before the first gradient.
void prepare_gradients(StageBuffers& buffers);

/// Sums gradients that every rank of the tensor group has a part of (sequence parallelism). Once per step, blocking.
void sum_partial_gradients(StageBuffers& buffers);

/// Over the data group: an all-reduce per bucket, or a reduce-scatter under ZeRO. Finish after every handle was waited
/// for.
std::vector<WorkHandle> begin_reduce(StageBuffers& buffers);
void finish_reduce(StageBuffers& buffers);

/// Adds the gradients of a tied parameter and its copy on another pipeline rank. Blocking; each rank adds what it owns.
void reduce_tied(StageBuffers& buffers, const Group& holders);

/// ZeRO 1 and 2: everybody gets the updated values.
std::vector<WorkHandle> begin_gather(StageBuffers& buffers);

/// ZeRO 3.
std::vector<WorkHandle> begin_unshard(StageBuffers& buffers);
void reshard(StageBuffers& buffers);

}  // namespace stagecraft
