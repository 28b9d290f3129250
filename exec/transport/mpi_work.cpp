#include "exec/transport/mpi_work.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "exec/transport/interruption.hpp"
#include "exec/transport/stop_word.hpp"

namespace stagecraft {

namespace {

constexpr double seconds_of_yielding = 0.05;  // after that a wait is no longer short and sleeps between looks

}  // namespace

void take_messages(MpiState& state) {
  for (std::size_t i = 0; i < state.waiting.size();) {
    MpiReceive& receive = *state.waiting[i];
    const bool behind = std::any_of(state.waiting.begin(), state.waiting.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const MpiReceive* before) { return before->same_name(receive); });
    if (!behind && receive.take()) {
      state.waiting.erase(state.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void throw_if_stopped(MpiState& state) {
  throw_if_interrupted();
  if (!state.stopped) take_messages(state);
  if (!state.stopped && state.stop_request != MPI_REQUEST_NULL) {
    int flag = 0;
    check_mpi(MPI_Test(&state.stop_request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    state.stopped = flag != 0;
  }
  if (state.stopped) {
    throw_stopped(std::string(state.stop_text.data(), strnlen(state.stop_text.data(), abort_text_size)));
  }
}

void MpiWork::abandon() noexcept {
  try {
    for (const at::Tensor& tensor : kept_) state_.abandoned.push_back(tensor);
    request_ = MPI_REQUEST_NULL;  // kept by MPI: freeing the request of a collective is an error that ends the process
  } catch (...) {
  }
}

MpiWork::~MpiWork() {
  if (finished_ || request_ == MPI_REQUEST_NULL) return;
  try {
    wait();
  } catch (const TransportError&) {
    abandon();
  }
}

MpiReceive::MpiReceive(MpiState& state, const at::Tensor& tensor, const Message& message, int tag)
    : MpiWork(state, {tensor}), tensor_(tensor), message_(message), peer_(message.peer), tag_(tag) {
  state.waiting.push_back(this);
}

MpiReceive::~MpiReceive() {
  try {
    if (!taken_) wait();
  } catch (const TransportError&) {  // the job is being stopped; MPI knows nothing of this receive
  }
  std::erase(state_.waiting, this);
}

bool MpiReceive::take() {
  int flag = 0;
  MPI_Message found = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(MPI_Improbe(peer_, tag_, state_.messages, &flag, &found, &status), "MPI_Improbe");
  if (flag == 0) return false;
  MPI_Count bytes = 0;
  check_mpi(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
  if (bytes != static_cast<MPI_Count>(tensor_.nbytes())) {
    taken_ = finished_ = true;
    throw TransportError(TransportFailure::refused, "message on channel " + std::to_string(message_.channel) +
                                                        ", tag " + std::to_string(message_.tag) + ": " +
                                                        std::to_string(bytes) + " bytes sent, " +
                                                        std::to_string(tensor_.nbytes()) + " expected");
  }
  const MPI_Datatype type = mpi_type(state_, tensor_.scalar_type());
  times_.started_s = now_s();  // within one machine the call below copies the whole message
  check_mpi(MPI_Imrecv(tensor_.data_ptr(), mpi_count(tensor_.numel()), type, &found, &request_), "MPI_Imrecv");
  taken_ = true;
  return true;
}

bool MpiReceive::query() {
  if (!taken_) take_messages(state_);
  return taken_ && MpiWork::query();
}

bool MpiWork::query() {
  if (finished_) return true;
  int flag = 0;
  check_mpi(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  if (flag == 0) return false;
  if (finish_) finish_();
  finish_ = nullptr;
  kept_.clear();
  if (times_.started_s == 0) times_.started_s = times_.posted_s;
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
