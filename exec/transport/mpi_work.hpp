#pragma once
// A pending MPI request with what must happen once it has completed. Included by mpi*.cpp only.

#include <functional>

#include "exec/transport/mpi_state.hpp"

namespace stagecraft {

class MpiWork : public Work {
 public:
  MpiWork(MpiState& state, std::vector<at::Tensor> kept) : state_(state), kept_(std::move(kept)) {
    times_.posted_s = now_s();
  }
  ~MpiWork() override;

  MPI_Request* request() { return &request_; }
  void then(std::function<void()> finish) { finish_ = std::move(finish); }

  bool query() override;
  void wait() override;
  WorkTimes times() const override { return times_; }

 protected:
  /// A stop has ended a wait: what MPI may still write to outlives this object.
  void abandon() noexcept;

  MpiState& state_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::vector<at::Tensor> kept_;
  std::function<void()> finish_;
  WorkTimes times_;
  bool finished_ = false;
};

/// A receive that is handed to MPI once its message has come and is known to have the right size. Open MPI 4.1 copies a
/// large message of another process straight to its place and writes over the end of a buffer that is too small.
class MpiReceive final : public MpiWork {
 public:
  MpiReceive(MpiState& state, const at::Tensor& tensor, const Message& message, int tag);
  ~MpiReceive() override;

  bool query() override;
  /// True once the message has come; takes it then.
  bool take();
  bool same_name(const MpiReceive& other) const { return peer_ == other.peer_ && tag_ == other.tag_; }

 private:
  at::Tensor tensor_;
  Message message_;
  int peer_, tag_;
  bool taken_ = false;
};

}  // namespace stagecraft
