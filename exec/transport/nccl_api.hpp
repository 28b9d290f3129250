#pragma once
// NCCL's C API and the few stream operations that go with it, as an interface: nccl_library.cpp calls the libraries,
// tests put a mock in their place.

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "exec/transport/transport.hpp"

namespace stagecraft {

/// A point on a stream that completes once everything before it has.
class DeviceEvent {
 public:
  DeviceEvent() = default;
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  virtual ~DeviceEvent() = default;
  virtual bool query() = 0;
  /// Host time of its completion, in seconds of now_s(). Valid once query() was true.
  virtual double completed_s() = 0;
};

/// A queue of device work.
class DeviceStream {
 public:
  DeviceStream() = default;
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  virtual ~DeviceStream() = default;
};

using NcclComm = void*;
using NcclId = std::array<char, 128>;

struct NcclCommOptions {
  std::int32_t max_ctas = 0;  // 0: NCCL's choice
};

/// Calls throw TransportError(failed) with the library's text.
class NcclApi {
 public:
  NcclApi() = default;
  NcclApi(const NcclApi&) = delete;
  NcclApi& operator=(const NcclApi&) = delete;
  virtual ~NcclApi() = default;

  virtual NcclId unique_id() = 0;
  /// Returns once all ranks of the communicator have called.
  virtual NcclComm init_rank(std::int32_t ranks, const NcclId& id, std::int32_t rank,
                             const NcclCommOptions& options) = 0;
  virtual void destroy(NcclComm comm) noexcept = 0;
  /// Ends kernels that wait for a peer.
  virtual void abort(NcclComm comm) noexcept = 0;
  /// What went wrong behind the host's back, or "".
  virtual std::string async_error(NcclComm comm) = 0;

  virtual void group_start() = 0;
  virtual void group_end() = 0;
  virtual void send(const at::Tensor& tensor, std::int32_t peer, NcclComm comm, DeviceStream& stream) = 0;
  virtual void receive(const at::Tensor& tensor, std::int32_t peer, NcclComm comm, DeviceStream& stream) = 0;
  virtual void all_reduce(const at::Tensor& tensor, Reduction reduction, NcclComm comm, DeviceStream& stream) = 0;
  virtual void all_gather(const at::Tensor& output, const at::Tensor& input, NcclComm comm, DeviceStream& stream) = 0;
  virtual void reduce_scatter(const at::Tensor& output, const at::Tensor& input, Reduction reduction, NcclComm comm,
                              DeviceStream& stream) = 0;
  virtual void broadcast(const at::Tensor& tensor, std::int32_t root, NcclComm comm, DeviceStream& stream) = 0;

  virtual std::unique_ptr<DeviceStream> make_stream() = 0;
  /// Marks what has been queued on `stream` so far; on the calling thread's current stream if null.
  virtual std::unique_ptr<DeviceEvent> record(DeviceStream* stream) = 0;
  /// Later work of `stream` (null: the current one) starts after the event.
  virtual void wait(DeviceStream* stream, DeviceEvent& event) = 0;
  /// A device tensor of one element, for barriers.
  virtual at::Tensor one_element() = 0;
};

/// The installed NCCL and CUDA on one device; only in builds that found both.
std::unique_ptr<NcclApi> make_nccl_library(at::Device device);

}  // namespace stagecraft
