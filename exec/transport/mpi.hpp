#pragma once
// Ranks as processes of an MPI job (Open MPI 4.1 is what the tests run on), tensors in host memory. Messages carry
// (channel, tag) in MPI's tag; bf16 and fp16 are added by an operation of our own. With `ordered_reduction` every
// member gathers the parts and adds them itself in rank order: equal bits whatever algorithm MPI picks. MPI moves large
// messages only inside its calls, so poll() between operations is what overlaps them with compute.

#include <memory>

#include "exec/transport/transport.hpp"

namespace stagecraft {

struct MpiState;

/// Starts MPI (MPI_THREAD_MULTIPLE) for this process and ends it. At most one per process.
class MpiJob {
 public:
  /// Throws TransportError if MPI can't be started with the thread level that is needed.
  explicit MpiJob(const TransportOptions& options);
  ~MpiJob();

  Transport& transport();

 private:
  std::unique_ptr<MpiState> state_;
  std::unique_ptr<Transport> transport_;
};

/// True if this process was started by an MPI launcher.
bool started_by_mpi();

}  // namespace stagecraft
