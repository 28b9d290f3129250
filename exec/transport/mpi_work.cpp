#include "exec/transport/mpi_work.hpp"

#include <sched.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "exec/transport/interruption.hpp"

namespace stagecraft {

namespace {

constexpr double seconds_of_yielding = 0.05;  // after that a wait is no longer short and sleeps between looks

}  // namespace

void throw_if_stopped(MpiState& state) {
  throw_if_interrupted();
  if (!state.stopped && state.stop_request != MPI_REQUEST_NULL) {
    int flag = 0;
    check_mpi(MPI_Test(&state.stop_request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    state.stopped = flag != 0;
  }
  if (state.stopped) {
    throw TransportError(TransportFailure::aborted,
                         std::string(state.stop_text.data(), strnlen(state.stop_text.data(), abort_text_size)));
  }
}

MpiWork::~MpiWork() {
  if (finished_ || request_ == MPI_REQUEST_NULL) return;
  try {
    wait();
  } catch (const TransportError&) {
    MPI_Request_free(&request_);  // the job is being stopped; nobody reads the tensors any more
  }
}

bool MpiWork::query() {
  if (finished_) return true;
  int flag = 0;
  check_mpi(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  if (flag == 0) return false;
  if (finish_) finish_();
  finish_ = nullptr;
  kept_.clear();
  times_.started_s = times_.posted_s;
  times_.finished_s = now_s();
  finished_ = true;
  return true;
}

void MpiWork::wait() {
  const double begin_s = now_s();
  while (!query()) {
    throw_if_stopped(state_);
    const double waited_s = now_s() - begin_s;
    if (waited_s > state_.options.timeout_s) {
      throw TransportError(TransportFailure::timed_out, "nothing arrived within the timeout");
    }
    if (waited_s < seconds_of_yielding) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
}

}  // namespace stagecraft
