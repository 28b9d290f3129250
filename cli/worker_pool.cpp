#include "worker_pool.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace stagecraft::cli {
namespace {

bool write_all(int descriptor, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t wrote = ::write(descriptor, at, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    at += wrote;
    size -= static_cast<std::size_t>(wrote);
  }
  return true;
}

bool read_all(int descriptor, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::read(descriptor, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

struct Child {
  pid_t process = -1;
  int jobs = -1, results = -1;  // our ends of the pipes
  std::optional<std::int64_t> working_on;
};

[[noreturn]] void serve(int jobs, int results, const PoolWork& pool) {
  std::int64_t number = 0;
  while (read_all(jobs, &number, sizeof number)) {
    const std::string result = pool.work(number);
    const std::uint64_t size = result.size();
    if (!write_all(results, &size, sizeof size) || !write_all(results, result.data(), result.size())) break;
    if (pool.fresh) break;
  }
  ::_exit(0);
}

std::string how_it_ended(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return fmt::format("its process was ended by signal {}", WTERMSIG(status));
  return fmt::format("its process ended with exit code {}", WEXITSTATUS(status));
}

class Pool {
 public:
  Pool(const std::vector<std::int64_t>& numbers, const PoolWork& work) : numbers_(numbers), work_(work) {}

  ~Pool() {
    for (Child& child : children_) {
      if (child.process < 0) continue;
      ::kill(child.process, SIGKILL);
      (void)how_it_ended(child.process);
      close_ends(child);
    }
  }

  void run(int workers) {
    const auto wanted = std::min<std::size_t>(static_cast<std::size_t>(workers), numbers_.size());
    for (std::size_t i = 0; i < wanted; ++i) {
      children_.emplace_back();
      start(children_.back());
      hand_out(children_.back());
    }
    while (std::any_of(children_.begin(), children_.end(), [](const Child& child) { return !!child.working_on; }))
      await_one();
    for (Child& child : children_) close_ends(child);  // which ends them
    for (Child& child : children_) {
      if (child.process >= 0) (void)how_it_ended(child.process);
      child.process = -1;
    }
  }

 private:
  void start(Child& child) {
    std::array<int, 2> jobs{}, results{};
    if (::pipe(jobs.data()) != 0) throw std::runtime_error(fmt::format("no pipe: {}", std::strerror(errno)));
    if (::pipe(results.data()) != 0) {
      ::close(jobs[0]), ::close(jobs[1]);
      throw std::runtime_error(fmt::format("no pipe: {}", std::strerror(errno)));
    }
    const pid_t parent = ::getpid();
    child.process = ::fork();
    if (child.process < 0) {
      for (const int end : {jobs[0], jobs[1], results[0], results[1]}) ::close(end);
      throw std::runtime_error(fmt::format("no worker process: {}", std::strerror(errno)));
    }
    if (child.process == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(0);
      for (const Child& sibling : children_) {
        if (sibling.jobs >= 0) ::close(sibling.jobs);
        if (sibling.results >= 0) ::close(sibling.results);
      }
      ::close(jobs[1]), ::close(results[0]);
      serve(jobs[0], results[1], work_);
    }
    ::close(jobs[0]), ::close(results[1]);
    child.jobs = jobs[1];
    child.results = results[0];
  }

  void hand_out(Child& child) {
    child.working_on.reset();
    if (next_ == numbers_.size()) return;
    child.working_on = numbers_[next_++];
    const std::int64_t number = *child.working_on;
    (void)write_all(child.jobs, &number, sizeof number);  // a child that has died is found at its results
  }

  void await_one() {
    std::vector<pollfd> waiting;
    for (const Child& child : children_) waiting.push_back({child.working_on ? child.results : -1, POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), -1) < 0) return;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) take_result(children_[i]);
    }
  }

  void take_result(Child& child) {
    const std::int64_t number = child.working_on.value();
    std::uint64_t size = 0;
    std::string result;
    bool whole = read_all(child.results, &size, sizeof size);
    if (whole) {
      result.resize(size);
      whole = read_all(child.results, result.data(), size);
    }
    if (whole) {
      if (work_.fresh && next_ < numbers_.size()) renew(child);
      hand_out(child);
      return work_.done(number, &result, "");
    }
    const std::string how = how_it_ended(child.process);
    child.process = -1;
    close_ends(child);
    child.working_on.reset();
    if (next_ < numbers_.size()) {
      start(child);
      hand_out(child);
    }
    work_.done(number, nullptr, how);
  }

  void renew(Child& child) {
    (void)how_it_ended(child.process);
    child.process = -1;
    close_ends(child);
    start(child);
  }

  static void close_ends(Child& child) {
    if (child.jobs >= 0) ::close(child.jobs);
    if (child.results >= 0) ::close(child.results);
    child.jobs = child.results = -1;
  }

  const std::vector<std::int64_t>& numbers_;
  const PoolWork& work_;
  std::vector<Child> children_;
  std::size_t next_ = 0;
};

}  // namespace

void run_pool(const std::vector<std::int64_t>& numbers, int workers, const PoolWork& work) {
  Pool pool(numbers, work);
  pool.run(workers);
}

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace stagecraft::cli
