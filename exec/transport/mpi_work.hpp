#pragma once
// A pending MPI request with what must happen once it has completed. Included by mpi*.cpp only.

#include <functional>

#include "exec/transport/mpi_state.hpp"

namespace stagecraft {

class MpiWork final : public Work {
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

 private:
  MpiState& state_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::vector<at::Tensor> kept_;
  std::function<void()> finish_;
  WorkTimes times_;
  bool finished_ = false;
};

}  // namespace stagecraft
