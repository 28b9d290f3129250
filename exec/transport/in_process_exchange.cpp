#include "exec/transport/in_process_exchange.hpp"

#include <algorithm>

#include "exec/transport/reduce.hpp"

namespace stagecraft {

namespace {

constexpr std::int64_t bytes_worth_cutting = 64 << 10;

const at::Tensor& sample(const Exchange& exchange) {
  return exchange.inputs[0];
}

at::Tensor part(const at::Tensor& tensor, std::int64_t index, std::int64_t parts) {
  const at::Tensor flat = tensor.view({-1});
  const std::int64_t length = (flat.numel() + parts - 1) / parts;
  const std::int64_t begin = std::min(flat.numel(), index * length);
  return flat.narrow(0, begin, std::min(length, flat.numel() - begin));
}

std::vector<at::Tensor> parts_of_all(const std::vector<at::Tensor>& tensors, std::int64_t index, std::int64_t parts) {
  std::vector<at::Tensor> result;
  result.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) result.push_back(part(tensor, index, parts));
  return result;
}

void copy_unless_same(at::Tensor to, const at::Tensor& from) {
  if (to.data_ptr() != from.data_ptr()) to.copy_(from);
}

void all_reduce_piece(const Exchange& exchange, std::int32_t piece) {
  const std::vector<at::Tensor> in = parts_of_all(exchange.inputs, piece, exchange.pieces);
  if (in[0].numel() == 0) return;
  const at::Tensor first = part(exchange.outputs[0], piece, exchange.pieces);
  reduce_in_order(first, in, exchange.reduction);
  for (std::size_t member = 1; member < exchange.outputs.size(); ++member) {
    copy_unless_same(part(exchange.outputs[member], piece, exchange.pieces), first);
  }
}

void gather_piece(const Exchange& exchange, std::int32_t member, bool all_to_all) {
  const std::int64_t members = exchange.members();
  for (std::int64_t from = 0; from < members; ++from) {
    const at::Tensor& input = exchange.inputs[static_cast<std::size_t>(from)];
    copy_unless_same(part(exchange.outputs[static_cast<std::size_t>(member)], from, members),
                     all_to_all ? part(input, member, members) : input.view({-1}));
  }
}

}  // namespace

bool Exchange::on_cpu() const {
  for (const at::Tensor& tensor : inputs) {
    if (tensor.defined()) return tensor.is_cpu();
  }
  return true;
}

std::string mismatch(const Exchange& exchange) {
  if (exchange.is_message) {
    const at::Tensor& in = exchange.inputs[0];
    const at::Tensor& out = exchange.outputs[1];
    if (in.numel() != out.numel() || in.scalar_type() != out.scalar_type()) {
      return "message: " + std::to_string(in.numel()) + " elements of " + c10::toString(in.scalar_type()) + " sent, " +
             std::to_string(out.numel()) + " of " + c10::toString(out.scalar_type()) + " expected";
    }
    return {};
  }
  if (exchange.call == CollectiveCall::barrier) return {};
  for (const at::Tensor& tensor : exchange.inputs) {
    if (tensor.numel() != sample(exchange).numel() || tensor.scalar_type() != sample(exchange).scalar_type()) {
      return std::string(to_text(exchange.call)) + ": the members' tensors differ in size or type";
    }
  }
  return {};
}

std::int32_t piece_count(const Exchange& exchange) {
  if (exchange.is_message) return 1;
  if (exchange.call == CollectiveCall::barrier) return 0;
  if (exchange.call == CollectiveCall::all_reduce) {
    return sample(exchange).nbytes() < static_cast<std::size_t>(bytes_worth_cutting) ? 1 : exchange.members();
  }
  return exchange.members();
}

void run_piece(const Exchange& exchange, std::int32_t piece) {
  if (exchange.is_message) {
    at::Tensor to = exchange.outputs[1];
    to.copy_(exchange.inputs[0].view(to.sizes()));
    return;
  }
  const auto member = static_cast<std::size_t>(piece);
  switch (exchange.call) {
    case CollectiveCall::all_reduce:
      all_reduce_piece(exchange, piece);
      return;
    case CollectiveCall::all_gather:
      gather_piece(exchange, piece, false);
      return;
    case CollectiveCall::all_to_all:
      gather_piece(exchange, piece, true);
      return;
    case CollectiveCall::reduce_scatter:
      reduce_in_order(exchange.outputs[member].view({-1}), parts_of_all(exchange.inputs, piece, exchange.members()),
                      exchange.reduction);
      return;
    case CollectiveCall::broadcast:
      copy_unless_same(exchange.outputs[member].view({-1}),
                       exchange.inputs[static_cast<std::size_t>(exchange.root)].view({-1}));
      return;
    case CollectiveCall::barrier:
      return;
  }
}

}  // namespace stagecraft
