// The only file that includes nccl.h.

#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdlib>
#include <cstring>

#include "exec/transport/nccl_api.hpp"

namespace stagecraft {

namespace {

void check(ncclResult_t result, const char* call) {
  if (result != ncclSuccess && result != ncclInProgress) {
    throw TransportError(TransportFailure::failed, std::string(call) + ": " + ncclGetErrorString(result));
  }
}

void check(cudaError_t result, const char* call) {
  if (result != cudaSuccess) {
    throw TransportError(TransportFailure::failed, std::string(call) + ": " + cudaGetErrorString(result));
  }
}

ncclDataType_t type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return ncclFloat32;
    case at::kDouble:
      return ncclFloat64;
    case at::kHalf:
      return ncclFloat16;
    case at::kBFloat16:
      return ncclBfloat16;
    case at::kLong:
      return ncclInt64;
    case at::kInt:
      return ncclInt32;
    case at::kByte:
      return ncclUint8;
    default:
      break;
  }
  throw TransportError(TransportFailure::refused,
                       std::string("nccl: tensors of ") + c10::toString(tensor.scalar_type()));
}

std::size_t count_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel());
}

ncclRedOp_t op_of(Reduction reduction) {
  return reduction == Reduction::sum ? ncclSum : ncclMax;
}

ncclComm_t comm_of(NcclComm comm) {
  return static_cast<ncclComm_t>(comm);
}

class LibraryStream final : public DeviceStream {
 public:
  explicit LibraryStream(c10::cuda::CUDAStream stream) : stream_(stream) {}
  cudaStream_t handle() const { return stream_.stream(); }

 private:
  c10::cuda::CUDAStream stream_;
};

class LibraryEvent final : public DeviceEvent {
 public:
  LibraryEvent(cudaEvent_t anchor, double anchor_s) : anchor_(anchor), anchor_s_(anchor_s) {
    check(cudaEventCreate(&event_), "cudaEventCreate");
  }
  ~LibraryEvent() override { cudaEventDestroy(event_); }

  bool query() override {
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) return false;
    check(state, "cudaEventQuery");
    return true;
  }

  double completed_s() override {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, anchor_, event_), "cudaEventElapsedTime");
    return anchor_s_ + static_cast<double>(milliseconds) * 1e-3;
  }

  cudaEvent_t handle() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
  cudaEvent_t anchor_;
  double anchor_s_;
};

class Library final : public NcclApi {
 public:
  explicit Library(at::Device device) : device_(device) {
    // Kernels of different communicators start in the order in which the host issued them (NCCL 2.26 and later).
    ::setenv("NCCL_LAUNCH_ORDER_IMPLICIT", "1", 0);
    check(cudaSetDevice(device.index()), "cudaSetDevice");
    check(cudaEventCreate(&anchor_), "cudaEventCreate");
    check(cudaEventRecord(anchor_, current()), "cudaEventRecord");
    check(cudaEventSynchronize(anchor_), "cudaEventSynchronize");
    anchor_s_ = now_s();
  }
  ~Library() override { cudaEventDestroy(anchor_); }

  NcclId unique_id() override {
    ncclUniqueId id;
    check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    NcclId bytes{};
    static_assert(sizeof(id.internal) == sizeof(NcclId));
    std::memcpy(bytes.data(), id.internal, bytes.size());
    return bytes;
  }

  NcclComm init_rank(std::int32_t ranks, const NcclId& bytes, std::int32_t rank,
                     const NcclCommOptions& options) override {
    ncclUniqueId id;
    std::memcpy(id.internal, bytes.data(), bytes.size());
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    if (options.max_ctas > 0) config.maxCTAs = options.max_ctas;
    ncclComm_t comm = nullptr;
    check(ncclCommInitRankConfig(&comm, ranks, id, rank, &config), "ncclCommInitRankConfig");
    return comm;
  }

  void destroy(NcclComm comm) noexcept override { ncclCommDestroy(comm_of(comm)); }
  void abort(NcclComm comm) noexcept override { ncclCommAbort(comm_of(comm)); }

  std::string async_error(NcclComm comm) override {
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm_of(comm), &state), "ncclCommGetAsyncError");
    return state == ncclSuccess || state == ncclInProgress ? "" : ncclGetErrorString(state);
  }

  void group_start() override { check(ncclGroupStart(), "ncclGroupStart"); }
  void group_end() override { check(ncclGroupEnd(), "ncclGroupEnd"); }

  void send(const at::Tensor& tensor, std::int32_t peer, NcclComm comm, DeviceStream& stream) override {
    check(ncclSend(tensor.const_data_ptr(), count_of(tensor), type_of(tensor), peer, comm_of(comm), handle(stream)),
          "ncclSend");
  }
  void receive(const at::Tensor& tensor, std::int32_t peer, NcclComm comm, DeviceStream& stream) override {
    check(ncclRecv(tensor.mutable_data_ptr(), count_of(tensor), type_of(tensor), peer, comm_of(comm), handle(stream)),
          "ncclRecv");
  }
  void all_reduce(const at::Tensor& tensor, Reduction reduction, NcclComm comm, DeviceStream& stream) override {
    check(ncclAllReduce(tensor.const_data_ptr(), tensor.mutable_data_ptr(), count_of(tensor), type_of(tensor),
                        op_of(reduction), comm_of(comm), handle(stream)),
          "ncclAllReduce");
  }
  void all_gather(const at::Tensor& output, const at::Tensor& input, NcclComm comm, DeviceStream& stream) override {
    check(ncclAllGather(input.const_data_ptr(), output.mutable_data_ptr(), count_of(input), type_of(input),
                        comm_of(comm), handle(stream)),
          "ncclAllGather");
  }
  void reduce_scatter(const at::Tensor& output, const at::Tensor& input, Reduction reduction, NcclComm comm,
                      DeviceStream& stream) override {
    check(ncclReduceScatter(input.const_data_ptr(), output.mutable_data_ptr(), count_of(output), type_of(output),
                            op_of(reduction), comm_of(comm), handle(stream)),
          "ncclReduceScatter");
  }
  void broadcast(const at::Tensor& tensor, std::int32_t root, NcclComm comm, DeviceStream& stream) override {
    check(ncclBroadcast(tensor.const_data_ptr(), tensor.mutable_data_ptr(), count_of(tensor), type_of(tensor), root,
                        comm_of(comm), handle(stream)),
          "ncclBroadcast");
  }

  std::unique_ptr<DeviceStream> make_stream() override {
    return std::make_unique<LibraryStream>(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device_.index()));
  }

  std::unique_ptr<DeviceEvent> record(DeviceStream* stream) override {
    auto event = std::make_unique<LibraryEvent>(anchor_, anchor_s_);
    check(cudaEventRecord(event->handle(), stream == nullptr ? current() : handle(*stream)), "cudaEventRecord");
    return event;
  }

  void wait(DeviceStream* stream, DeviceEvent& event) override {
    check(cudaStreamWaitEvent(stream == nullptr ? current() : handle(*stream),
                              static_cast<LibraryEvent&>(event).handle(), 0),
          "cudaStreamWaitEvent");
  }

  at::Tensor one_element() override { return at::zeros({1}, at::TensorOptions().dtype(at::kFloat).device(device_)); }

 private:
  cudaStream_t current() const { return c10::cuda::getCurrentCUDAStream(device_.index()).stream(); }
  static cudaStream_t handle(DeviceStream& stream) { return static_cast<LibraryStream&>(stream).handle(); }

  at::Device device_;
  cudaEvent_t anchor_ = nullptr;
  double anchor_s_ = 0;
};

}  // namespace

std::unique_ptr<NcclApi> make_nccl_library(at::Device device) {
  return std::make_unique<Library>(device);
}

}  // namespace stagecraft
