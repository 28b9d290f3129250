#include "exec/zero/stage_buffers.hpp"

namespace stagecraft {

namespace {

bool cut(const StageBuffers& buffers) {
  return buffers.policy.zero_stage > 0;
}

at::Tensor slice(const at::Tensor& flat, const FlatSpan& span) {
  return flat.narrow(0, span.begin, span.length);
}

at::TensorOptions options(const BufferPolicy& policy, at::ScalarType type) {
  return at::TensorOptions().dtype(type).device(policy.device);
}

at::Tensor view_of(const at::Tensor& flat, std::int64_t offset, const Parameter& parameter) {
  const at::Tensor part = flat.narrow(0, offset, parameter.elements());
  return parameter.vector ? part : part.view({parameter.rows, parameter.columns});
}

void bind_values(StageBuffers& buffers) {
  for (std::size_t i = 0; i < buffers.model->parameters.size(); ++i) {
    Parameter& parameter = buffers.model->parameters[i];
    parameter.value =
        buffers.values.defined() ? view_of(buffers.values, buffers.layout.offsets[i], parameter) : at::Tensor();
  }
}

void bind_gradients(StageBuffers& buffers) {
  for (std::size_t i = 0; i < buffers.model->parameters.size(); ++i) {
    Parameter& parameter = buffers.model->parameters[i];
    parameter.gradient =
        buffers.gradients.defined() ? view_of(buffers.gradients, buffers.layout.offsets[i], parameter) : at::Tensor();
  }
}

/// The initial values in the type of the master copy, so that this one is not rounded to 16 bit first.
at::Tensor initial_values(const StageBuffers& buffers) {
  const BufferPolicy& policy = buffers.policy;
  const at::ScalarType type = policy.master_copy ? policy.state : policy.value;
  at::Tensor flat = at::zeros({buffers.layout.elements}, at::TensorOptions().dtype(type));
  for (std::size_t i = 0; i < buffers.model->parameters.size(); ++i) {
    const Parameter& parameter = buffers.model->parameters[i];
    fill_initial(parameter, policy.seed, view_of(flat, buffers.layout.offsets[i], parameter));
  }
  return flat.to(policy.device);
}

/// What this rank owns of a whole buffer, copied together.
at::Tensor owned_copy(const StageBuffers& buffers, const at::Tensor& whole) {
  at::Tensor owned =
      at::empty({cut(buffers) ? buffers.layout.shard_elements() : buffers.layout.elements}, whole.options());
  for (const OwnedPiece& piece : owned_pieces(buffers)) {
    owned.narrow(0, piece.state_begin, piece.at.length).copy_(slice(whole, piece.at));
  }
  return owned;
}

}  // namespace

std::vector<OwnedPiece> owned_pieces(const StageBuffers& buffers) {
  std::vector<OwnedPiece> pieces;
  std::int64_t state = 0;
  for (std::size_t b = 0; b < buffers.layout.buckets.size(); ++b) {
    const FlatSpan at = cut(buffers) ? buffers.layout.owned(b, buffers.data.index) : buffers.layout.buckets[b];
    pieces.push_back({at, state});
    state += at.length;
  }
  return pieces;
}

at::Tensor reduced_gradient(const StageBuffers& buffers, const OwnedPiece& piece) {
  return cut(buffers) ? buffers.gradient_shard.narrow(0, piece.state_begin, piece.at.length)
                      : slice(buffers.gradients, piece.at);
}

at::Tensor updated_value(const StageBuffers& buffers, const OwnedPiece& piece) {
  return buffers.policy.zero_stage == 3 ? buffers.value_shard.narrow(0, piece.state_begin, piece.at.length)
                                        : slice(buffers.values, piece.at);
}

StageBuffers make_stage_buffers(StageModel& model, const BufferPolicy& policy, Transport& transport, const Group& data,
                                const Group& tensor, bool tied_counts) {
  StageBuffers buffers;
  buffers.model = &model;
  buffers.policy = policy;
  buffers.transport = &transport;
  buffers.data = data;
  buffers.tensor = tensor;
  const bool replicas_count = tensor.size() <= 1 || tensor.index == 0;
  buffers.layout = lay_out(model.parameters, policy.zero_stage > 0 ? data.size() : 1, policy.bucket_elements,
                           tied_counts, replicas_count);
  const at::Tensor initial = initial_values(buffers);
  const std::int64_t owned = policy.zero_stage > 0 ? buffers.layout.shard_elements() : buffers.layout.elements;
  if (policy.master_copy) buffers.master = owned_copy(buffers, initial);
  if (policy.zero_stage == 3) {
    buffers.value_shard = owned_copy(buffers, initial).to(policy.value);
  } else {
    buffers.values = initial.to(policy.value);
  }
  if (policy.zero_stage < 2) buffers.gradients = at::zeros({buffers.layout.elements}, options(policy, policy.gradient));
  if (policy.zero_stage > 0) buffers.gradient_shard = at::zeros({owned}, options(policy, policy.gradient));
  buffers.first_moment = at::zeros({owned}, options(policy, policy.state));
  buffers.second_moment = at::zeros({owned}, options(policy, policy.state));
  bind_values(buffers);
  bind_gradients(buffers);
  return buffers;
}

void prepare_gradients(StageBuffers& buffers) {
  buffers.partial_sums_done = false;
  if (buffers.gradients.defined()) {
    buffers.gradients.zero_();
    return;
  }
  buffers.gradients = at::zeros({buffers.layout.elements}, options(buffers.policy, buffers.policy.gradient));
  bind_gradients(buffers);
}

void sum_partial_gradients(StageBuffers& buffers) {
  if (buffers.partial_sums_done || buffers.tensor.size() <= 1) return;
  buffers.partial_sums_done = true;
  std::vector<at::Tensor> parts;
  for (const Parameter& parameter : buffers.model->parameters) {
    if (parameter.role == TensorRole::partial) parts.push_back(parameter.gradient.view({-1}));
  }
  if (parts.empty()) return;
  const at::Tensor together = at::cat(parts);
  buffers.transport->all_reduce(together, Reduction::sum, buffers.tensor)->wait();
  std::int64_t at = 0;
  for (at::Tensor& part : parts) {
    part.copy_(together.narrow(0, at, part.numel()));
    at += part.numel();
  }
}

std::vector<WorkHandle> begin_reduce(StageBuffers& buffers) {
  std::vector<WorkHandle> works;
  const std::vector<OwnedPiece> pieces = owned_pieces(buffers);
  for (std::size_t b = 0; b < buffers.layout.buckets.size(); ++b) {
    const at::Tensor bucket = slice(buffers.gradients, buffers.layout.buckets[b]);
    works.push_back(cut(buffers) ? buffers.transport->reduce_scatter(reduced_gradient(buffers, pieces[b]), bucket,
                                                                     Reduction::sum, buffers.data)
                                 : buffers.transport->all_reduce(bucket, Reduction::sum, buffers.data));
  }
  return works;
}

void finish_reduce(StageBuffers& buffers) {
  if (buffers.policy.zero_stage < 2) return;
  buffers.gradients.reset();
  bind_gradients(buffers);
}

void reduce_tied(StageBuffers& buffers, const Group& holders) {
  const std::vector<OwnedPiece> pieces = owned_pieces(buffers);
  for (std::size_t b = 0; b < buffers.layout.tied_buckets; ++b) {
    buffers.transport->all_reduce(reduced_gradient(buffers, pieces[b]), Reduction::sum, holders)->wait();
  }
}

std::vector<WorkHandle> begin_gather(StageBuffers& buffers) {
  std::vector<WorkHandle> works;
  for (std::size_t b = 0; b < buffers.layout.buckets.size(); ++b) {
    // A copy, since not every back end gathers in place.
    const at::Tensor mine = slice(buffers.values, buffers.layout.owned(b, buffers.data.index)).clone();
    works.push_back(
        buffers.transport->all_gather(slice(buffers.values, buffers.layout.buckets[b]), mine, buffers.data));
  }
  return works;
}

std::vector<WorkHandle> begin_unshard(StageBuffers& buffers) {
  buffers.values = at::empty({buffers.layout.elements}, options(buffers.policy, buffers.policy.value));
  bind_values(buffers);
  std::vector<WorkHandle> works;
  const std::vector<OwnedPiece> pieces = owned_pieces(buffers);
  for (std::size_t b = 0; b < buffers.layout.buckets.size(); ++b) {
    works.push_back(buffers.transport->all_gather(slice(buffers.values, buffers.layout.buckets[b]),
                                                  updated_value(buffers, pieces[b]), buffers.data));
  }
  return works;
}

void reshard(StageBuffers& buffers) {
  buffers.values.reset();
  bind_values(buffers);
}

}  // namespace stagecraft
