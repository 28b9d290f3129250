#include "exec/run/recorder.hpp"

namespace stagecraft {

namespace {

c10::Stream current_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

c10::Event timed_event(at::Device device) {
  return {device.type(), c10::EventFlag::BACKEND_DEFAULT};
}

}  // namespace

void synchronize(at::Device device) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

Recorder::Recorder(at::Device device) : device_(device) {
  anchor();
}
Recorder::~Recorder() = default;

void Recorder::anchor() {
  if (device_.is_cpu()) return;
  synchronize(device_);
  anchor_.emplace(timed_event(device_));
  anchor_->record(current_stream(device_));
  anchor_->synchronize();
  anchor_s_ = now_s();
}

std::size_t Recorder::begin(std::int32_t step, std::uint32_t position) {
  const std::size_t handle = ops_.size();
  RecordedOp& op = ops_.emplace_back();
  op.step = step;
  op.position = position;
  op.begin_s = op.posted_s = now_s();
  if (!device_.is_cpu()) {
    events_.push_back({handle, timed_event(device_), timed_event(device_), 0});
    events_.back().begin.record(current_stream(device_));
  }
  return handle;
}

void Recorder::end(std::size_t handle) {
  ops_[handle].end_s = now_s();
  if (!device_.is_cpu() && !events_.empty() && events_.back().handle == handle) {
    events_.back().end.record(current_stream(device_));
  }
}

void Recorder::leave_out(std::size_t handle, double seconds) {
  if (device_.is_cpu()) {
    ops_[handle].begin_s += seconds;
  } else if (!events_.empty() && events_.back().handle == handle) {
    events_.back().left_out_s = seconds;
  }
}

void Recorder::resolve() {
  for (Events& events : events_) {
    if (!events.end.was_marked_for_recording()) continue;
    RecordedOp& op = ops_[events.handle];
    op.begin_s = anchor_s_ + anchor_->elapsedTime(events.begin) * 1e-3 + events.left_out_s;
    op.end_s = anchor_s_ + anchor_->elapsedTime(events.end) * 1e-3;
  }
  events_.clear();
}

void Recorder::clear() {
  ops_.clear();
  events_.clear();
  anchor();
}

}  // namespace stagecraft
