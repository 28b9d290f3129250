#include "gui/models/background.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <QSocketNotifier>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace stagecraft::gui {
namespace {

int new_event() {
  const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return event;
}

void put(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event, &one, sizeof one);  // of an eventfd(2), all or nothing
}

/// Whether the event was there.
bool taken(int event) {
  std::uint64_t count = 0;
  return ::read(event, &count, sizeof count) == sizeof count;
}

}  // namespace

Background::Background(QObject* parent)
    : QObject(parent), done_(new_event()), notifier_(new QSocketNotifier(done_, QSocketNotifier::Read, this)) {
  connect(notifier_, &QSocketNotifier::activated, this, [this] { finished(); });
}

Background::~Background() {
  stop();
  delete notifier_;  // before what it watches is closed
  ::close(done_);
}

void Background::run(Work work, std::function<void()> then) {
  Job job{std::move(work), std::move(then)};
  if (!running_) return launch(std::move(job));
  cancel_ = true;
  next_ = [this, job = std::move(job)] { launch(job); };
}

void Background::cancel() {
  cancel_ = true;
  then_ = nullptr;
  next_ = nullptr;
}

void Background::stop() {
  cancel();
  worker_.wait();
  taken(done_);
  running_ = false;
}

void Background::launch(Job job) {
  running_ = true;
  cancel_ = false;
  then_ = std::move(job.then);
  worker_.start([this, work = std::move(job.work)] {
    work(cancel_);
    put(done_);
  });
}

void Background::finished() {
  if (!taken(done_)) return;  // stopped since the notifier saw it
  worker_.wait();             // what the work held is gone with it
  running_ = false;
  if (const auto next = std::exchange(next_, nullptr)) return next();
  if (const auto then = std::exchange(then_, nullptr)) then();
}

}  // namespace stagecraft::gui
