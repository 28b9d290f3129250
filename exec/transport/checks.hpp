#pragma once
// What every back end refuses before it hands a tensor to its library.

#include "exec/transport/transport.hpp"

namespace stagecraft {

enum class CollectiveCall : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, barrier };
const char* to_text(CollectiveCall call);

/// Throws TransportError(refused) unless the tensor is dense and contiguous and the peer exists and is another rank.
void check_message(const at::Tensor& tensor, const Message& message, std::int32_t rank, std::int32_t size);

/// Throws TransportError(refused) unless the sizes and types fit the call and this rank is a member of the group.
void check_collective(CollectiveCall call, const at::Tensor& output, const at::Tensor& input, const Group& group);

/// The ranks, checked: ascending, distinct, inside the job. Throws TransportError(refused).
void check_group(const std::vector<std::int32_t>& ranks, std::int32_t size);

}  // namespace stagecraft
