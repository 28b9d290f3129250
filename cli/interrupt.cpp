#include "interrupt.hpp"

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace stagecraft::cli {
namespace {

constexpr int stop_waiting = SIGUSR1;  // from the destructor to the waiting thread

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t awaited_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, stop_waiting);
  for (const int signal : {SIGINT, SIGTERM}) {
    if (!is_ignored(signal)) ::sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t awaited = awaited_signals();
  ::pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
  waiter_ = std::thread([this, awaited] {
    int signal = 0;
    if (::sigwait(&awaited, &signal) != 0 || signal == stop_waiting) return;
    std::unique_lock writing(writing_, std::chrono::seconds(2));
    if (const pid_t child = child_; child > 0) ::kill(child, SIGTERM);
    std::fputs("stagecraft: interrupted\n", stderr);
    std::_Exit(128 + signal);
  });
}

Interrupt::~Interrupt() {
  ::pthread_kill(waiter_.native_handle(), stop_waiting);
  waiter_.join();
}

}  // namespace stagecraft::cli
