#include "gui/models/background.hpp"

#include <utility>

namespace stagecraft::gui {

Background::Background(QObject* parent) : QObject(parent) {
  pool_.setMaxThreadCount(1);
}

Background::~Background() {
  cancel_ = true;
  pool_.waitForDone();
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

void Background::launch(Job job) {
  running_ = true;
  cancel_ = false;
  then_ = std::move(job.then);
  pool_.start([this, work = std::move(job.work)] {
    work(cancel_);
    QMetaObject::invokeMethod(
        this, [this] { finished(); }, Qt::QueuedConnection);
  });
}

void Background::finished() {
  running_ = false;
  if (const auto next = std::exchange(next_, nullptr)) return next();
  if (const auto then = std::exchange(then_, nullptr)) then();
}

}  // namespace stagecraft::gui
