#include "exec/transport/checks.hpp"

#include <chrono>
#include <string>

namespace stagecraft {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw TransportError(TransportFailure::refused, message);
}

void check_dense(const at::Tensor& tensor, const char* what) {
  if (!tensor.defined() || !tensor.is_contiguous())
    refuse(std::string(what) + ": the tensor is not dense and contiguous");
}

}  // namespace

const char* to_text(CollectiveCall call) {
  switch (call) {
    case CollectiveCall::all_reduce:
      return "all-reduce";
    case CollectiveCall::all_gather:
      return "all-gather";
    case CollectiveCall::reduce_scatter:
      return "reduce-scatter";
    case CollectiveCall::all_to_all:
      return "all-to-all";
    case CollectiveCall::broadcast:
      return "broadcast";
    case CollectiveCall::barrier:
      return "barrier";
  }
  return "collective";
}

void check_message(const at::Tensor& tensor, const Message& message, std::int32_t rank, std::int32_t size) {
  check_dense(tensor, "message");
  if (message.peer < 0 || message.peer >= size || message.peer == rank) {
    refuse("message: peer " + std::to_string(message.peer) + " of rank " + std::to_string(rank) + " in a job of " +
           std::to_string(size));
  }
  if (message.tag < 0) refuse("message: tag " + std::to_string(message.tag) + " is negative");
}

void check_collective(CollectiveCall call, const at::Tensor& output, const at::Tensor& input, const Group& group) {
  const std::string name = to_text(call);
  if (group.id < 0 || group.index < 0) refuse(name + ": this rank is not a member of the group");
  if (call == CollectiveCall::barrier) return;
  check_dense(output, name.c_str());
  check_dense(input, name.c_str());
  if (output.scalar_type() != input.scalar_type()) refuse(name + ": input and output differ in type");
  const std::int64_t members = group.size();
  const bool fits = call == CollectiveCall::all_gather       ? output.numel() == input.numel() * members
                    : call == CollectiveCall::reduce_scatter ? input.numel() == output.numel() * members
                    : call == CollectiveCall::all_to_all
                        ? output.numel() == input.numel() && input.numel() % members == 0
                        : output.numel() == input.numel();
  if (!fits) {
    refuse(name + ": " + std::to_string(input.numel()) + " elements in, " + std::to_string(output.numel()) +
           " out do not fit a group of " + std::to_string(members));
  }
}

void check_group(const std::vector<std::int32_t>& ranks, std::int32_t size) {
  if (ranks.empty()) refuse("group: no ranks");
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < 0 || ranks[i] >= size) refuse("group: rank " + std::to_string(ranks[i]) + " is outside the job");
    if (i > 0 && ranks[i] <= ranks[i - 1]) refuse("group: ranks are not ascending and distinct");
  }
}

}  // namespace stagecraft
