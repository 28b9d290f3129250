#include "nccl_mock.hpp"

namespace stagecraft {

namespace {

class MockStream final : public DeviceStream {
 public:
  explicit MockStream(int n) : number(n) {}
  const int number;
};

class MockEvent final : public DeviceEvent {
 public:
  explicit MockEvent(MockClock& clock) : clock_(clock), complete_(clock.complete) {
    if (!complete_) clock_.open.push_back(&complete_);
  }
  ~MockEvent() override { std::erase(clock_.open, &complete_); }
  bool query() override { return complete_; }
  double completed_s() override { return now_s(); }

 private:
  MockClock& clock_;
  bool complete_;
};

std::string stream_name(DeviceStream* stream) {
  return stream == nullptr ? "current" : "s" + std::to_string(static_cast<MockStream*>(stream)->number);
}

}  // namespace

void MemoryBootstrap::set(const std::string& key, const std::string& value) {
  values[key] = value;
}

std::string MemoryBootstrap::get(const std::string& key) {
  const auto found = values.find(key);
  if (found == values.end()) throw TransportError(TransportFailure::timed_out, "no value for " + key);
  return found->second;
}

std::optional<std::string> MemoryBootstrap::look(const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

void MockClock::release() {
  for (bool* const event : open) *event = true;
}

NcclId NcclMock::unique_id() {
  NcclId id{};
  id[0] = static_cast<char>(++ids_);
  return id;
}

NcclComm NcclMock::init_rank(std::int32_t ranks, const NcclId&, std::int32_t rank, const NcclCommOptions& options) {
  comms_.push_back("c" + std::to_string(comms_.size()));
  log.push_back("init " + comms_.back() + " rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                (options.max_ctas > 0 ? " few ctas" : ""));
  return &comms_.back();
}

void NcclMock::destroy(NcclComm comm) noexcept {
  log.push_back("destroy " + *static_cast<std::string*>(comm));
}
void NcclMock::abort(NcclComm comm) noexcept {
  aborted.push_back(*static_cast<std::string*>(comm));
}
std::string NcclMock::async_error(NcclComm) {
  return error;
}

void NcclMock::note(const char* call, NcclComm comm, DeviceStream& stream) {
  log.push_back(std::string(call) + " " + *static_cast<std::string*>(comm) + " " + stream_name(&stream));
}

void NcclMock::send(const at::Tensor&, std::int32_t, NcclComm comm, DeviceStream& stream) {
  note("send", comm, stream);
}
void NcclMock::receive(const at::Tensor&, std::int32_t, NcclComm comm, DeviceStream& stream) {
  note("receive", comm, stream);
}
void NcclMock::all_reduce(const at::Tensor&, Reduction, NcclComm comm, DeviceStream& stream) {
  note("all-reduce", comm, stream);
}
void NcclMock::all_gather(const at::Tensor&, const at::Tensor&, NcclComm comm, DeviceStream& stream) {
  note("all-gather", comm, stream);
}
void NcclMock::reduce_scatter(const at::Tensor&, const at::Tensor&, Reduction, NcclComm comm, DeviceStream& stream) {
  note("reduce-scatter", comm, stream);
}
void NcclMock::broadcast(const at::Tensor&, std::int32_t, NcclComm comm, DeviceStream& stream) {
  note("broadcast", comm, stream);
}

std::unique_ptr<DeviceStream> NcclMock::make_stream() {
  return std::make_unique<MockStream>(streams_++);
}
std::unique_ptr<DeviceEvent> NcclMock::record(DeviceStream*) {
  return std::make_unique<MockEvent>(clock);
}
void NcclMock::wait(DeviceStream* stream, DeviceEvent&) {
  log.push_back(stream_name(stream) + " waits");
}

}  // namespace stagecraft
