#include "gui/models/worker.hpp"

#include <utility>

namespace stagecraft::gui {

Worker::~Worker() {
  if (!thread_.joinable()) return;
  wait();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Worker::start(std::function<void()> job) {
  wait();
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  {
    const std::lock_guard lock(mutex_);
    job_ = std::move(job);
    busy_ = true;
  }
  changed_.notify_all();
}

void Worker::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_; });
}

void Worker::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return busy_ || ending_; });
    if (ending_) return;
    std::function<void()> job = std::exchange(job_, nullptr);
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace stagecraft::gui
