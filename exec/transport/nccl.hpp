#pragma once
// Ranks as processes with a GPU each, over NCCL's C API. Every channel is a communicator of its two ranks with a stream
// of its own, so that activations and gradients of an edge never wait for each other; channels are connected before the
// first step, in one order on all ranks, and so are groups. Operations of one communicator are issued in the order of
// the calls; with NCCL_LAUNCH_ORDER_IMPLICIT the host's order is the device's order across communicators too. Tensors
// are kept until their event has completed. A wait never blocks the host; a hang is seen by query() against the
// timeout, ended by aborting every communicator, and told to the other ranks through the bootstrap. Multi-rank runs are
// untested until tools/gpu_check has been run on two GPUs (docs/executor.md).

#include <memory>

#include "exec/transport/bootstrap.hpp"
#include "exec/transport/nccl_api.hpp"

namespace stagecraft {

/// `api` and `bootstrap` outlive the transport.
std::unique_ptr<Transport> make_nccl_transport(NcclApi& api, Bootstrap& bootstrap, std::int32_t rank, std::int32_t size,
                                               const TransportOptions& options);

}  // namespace stagecraft
