#include "exec/transport/stop_word.hpp"

namespace stagecraft {

namespace {

constexpr char timed_out_mark = 'T', failed_mark = 'F';

}  // namespace

std::string stop_word(const std::string& reason, StopCause cause) {
  return (cause == StopCause::timed_out ? timed_out_mark : failed_mark) + reason;
}

void throw_stopped(const std::string& word) {
  const StopCause cause = !word.empty() && word.front() == timed_out_mark ? StopCause::timed_out : StopCause::failed;
  throw TransportError(TransportFailure::aborted, word.empty() ? word : word.substr(1), cause);
}

}  // namespace stagecraft
