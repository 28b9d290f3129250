#pragma once
// Ranks as threads of one process, on CPU or all on one GPU. A message is matched by (from, to, channel, tag) and
// copied once, by whichever end waits for it first; on a GPU the copy is queued behind the events of both ends, so the
// host never blocks on the device. Collectives are cut into one piece per member and the pieces are taken by those who
// wait.

#include <memory>
#include <vector>

#include "exec/transport/transport.hpp"

namespace stagecraft {

struct InProcessState;

/// Owns what the ranks of one job share. Outlives its transports and their work handles.
class InProcessJob {
 public:
  InProcessJob(std::int32_t ranks, const TransportOptions& options);
  ~InProcessJob();

  /// The transport of one rank; used by one thread at a time.
  Transport& transport(std::int32_t rank);

 private:
  std::unique_ptr<InProcessState> state_;
  std::vector<std::unique_ptr<Transport>> transports_;
};

}  // namespace stagecraft
