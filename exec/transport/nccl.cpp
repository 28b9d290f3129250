#include "exec/transport/nccl.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "exec/transport/checks.hpp"
#include "exec/transport/interruption.hpp"
#include "exec/transport/stop_word.hpp"

namespace stagecraft {

namespace {

constexpr double seconds_between_looks = 0.1;  // at the bootstrap, for a reason to stop
constexpr std::int32_t channel_ctas = 2;       // of a two-rank communicator: many of them share the GPU with compute
constexpr const char* stop_key = "stop";

struct Communicator {
  NcclComm comm = nullptr;
  std::unique_ptr<DeviceStream> stream;
};

/// What works and transport share.
struct NcclState {
  NcclApi& api;
  Bootstrap& bootstrap;
  const std::int32_t rank, size;
  const TransportOptions options;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, Communicator> channels;  // (from, to, channel)
  std::vector<Communicator> groups;                                                       // by group id
  bool stopped = false;
  std::string word;  // the reason, as stop_word.hpp packs it
  double looked_s = 0;

  void throw_if_stopped() {
    throw_if_interrupted();
    if (!stopped && now_s() - looked_s > seconds_between_looks) {
      looked_s = now_s();
      if (const auto told = bootstrap.look(stop_key)) stop(*told);
    }
    if (stopped) throw_stopped(word);
  }

  void stop(const std::string& why) noexcept {
    if (stopped) return;
    stopped = true;
    word = why;
    for (auto& [ends, communicator] : channels) end(communicator);
    for (Communicator& communicator : groups) end(communicator);
  }

  void end(Communicator& communicator) noexcept {
    if (communicator.comm != nullptr) api.abort(communicator.comm);
    communicator.comm = nullptr;
  }
};

class NcclWork final : public Work {
 public:
  NcclWork(NcclState& state, NcclComm comm, std::vector<at::Tensor> kept, std::unique_ptr<DeviceEvent> began,
           std::unique_ptr<DeviceEvent> ended)
      : state_(state),
        comm_(comm),
        kept_(std::move(kept)),
        began_(std::move(began)),
        ended_(std::move(ended)),
        posted_s_(now_s()) {}

  ~NcclWork() override {
    try {  // the tensors must outlive the device's use of them
      while (!state_.stopped && !query()) {
      }
    } catch (const TransportError&) {  // aborted: no kernel uses them any more
    }
  }

  bool query() override {
    state_.throw_if_stopped();
    if (finished_) return true;
    if (!ended_->query()) {
      const std::string problem = state_.api.async_error(comm_);
      if (!problem.empty()) {
        state_.stop(problem);
        throw TransportError(TransportFailure::failed, "nccl: " + problem);
      }
      if (now_s() - posted_s_ > state_.options.timeout_s) {
        throw TransportError(TransportFailure::timed_out, "nothing arrived within the timeout");
      }
      return false;
    }
    finished_ = true;
    kept_.clear();
    return true;
  }

  void wait() override {
    state_.throw_if_stopped();
    state_.api.wait(nullptr, *ended_);
  }

  WorkTimes times() const override { return {posted_s_, began_->completed_s(), ended_->completed_s()}; }

 private:
  NcclState& state_;
  NcclComm comm_;
  std::vector<at::Tensor> kept_;
  std::unique_ptr<DeviceEvent> began_, ended_;
  double posted_s_;
  bool finished_ = false;
};

class NcclTransport final : public Transport {
 public:
  NcclTransport(NcclApi& api, Bootstrap& bootstrap, std::int32_t rank, std::int32_t size,
                const TransportOptions& options)
      : state_{api, bootstrap, rank, size, options, {}, {}, false, {}, 0} {}

  ~NcclTransport() override {
    for (auto& [ends, communicator] : state_.channels) finish(communicator);
    for (Communicator& communicator : state_.groups) finish(communicator);
  }

  std::int32_t rank() const override { return state_.rank; }
  std::int32_t size() const override { return state_.size; }
  const char* name() const override { return "nccl"; }

  void connect(const std::vector<ChannelEnds>& channels) override {
    for (const ChannelEnds& ends : channels) {
      if (ends.from != rank() && ends.to != rank()) continue;
      const std::string key =
          "channel/" + std::to_string(ends.from) + "/" + std::to_string(ends.to) + "/" + std::to_string(ends.channel);
      Communicator made = make(key, 2, ends.from == rank() ? 0 : 1, {channel_ctas});
      state_.channels.emplace(std::tuple(ends.from, ends.to, ends.channel), std::move(made));
    }
  }

  Group make_group(const std::vector<std::int32_t>& ranks) override {
    check_group(ranks, size());
    Group group{static_cast<std::int32_t>(state_.groups.size()), -1, ranks};
    const auto found = std::find(ranks.begin(), ranks.end(), rank());
    Communicator made;
    if (found != ranks.end()) {
      group.index = static_cast<std::int32_t>(found - ranks.begin());
      made = make("group/" + std::to_string(group.id), group.size(), group.index, {});
    }
    state_.groups.push_back(std::move(made));
    return group;
  }

  WorkHandle isend(const at::Tensor& tensor, const Message& message) override {
    check_message(tensor, message, rank(), size());
    return issue(channel(rank(), message.peer, message.channel), {tensor},
                 [&](NcclComm comm, DeviceStream& stream) { state_.api.send(tensor, 1, comm, stream); });
  }

  WorkHandle irecv(const at::Tensor& tensor, const Message& message) override {
    check_message(tensor, message, rank(), size());
    return issue(channel(message.peer, rank(), message.channel), {tensor},
                 [&](NcclComm comm, DeviceStream& stream) { state_.api.receive(tensor, 0, comm, stream); });
  }

  WorkHandle all_reduce(const at::Tensor& tensor, Reduction reduction, const Group& group) override {
    check_collective(CollectiveCall::all_reduce, tensor, tensor, group);
    return issue(members(group), {tensor},
                 [&](NcclComm comm, DeviceStream& stream) { state_.api.all_reduce(tensor, reduction, comm, stream); });
  }

  WorkHandle all_gather(const at::Tensor& output, const at::Tensor& input, const Group& group) override {
    check_collective(CollectiveCall::all_gather, output, input, group);
    return issue(members(group), {output, input},
                 [&](NcclComm comm, DeviceStream& stream) { state_.api.all_gather(output, input, comm, stream); });
  }

  WorkHandle reduce_scatter(const at::Tensor& output, const at::Tensor& input, Reduction reduction,
                            const Group& group) override {
    check_collective(CollectiveCall::reduce_scatter, output, input, group);
    return issue(members(group), {output, input}, [&](NcclComm comm, DeviceStream& stream) {
      state_.api.reduce_scatter(output, input, reduction, comm, stream);
    });
  }

  WorkHandle all_to_all(const at::Tensor& output, const at::Tensor& input, const Group& group) override {
    check_collective(CollectiveCall::all_to_all, output, input, group);
    return issue(members(group), {output, input}, [&](NcclComm comm, DeviceStream& stream) {
      const std::int64_t share = input.numel() / group.size();
      state_.api.group_start();
      for (std::int32_t member = 0; member < group.size(); ++member) {
        state_.api.send(input.view({-1}).narrow(0, member * share, share), member, comm, stream);
        state_.api.receive(output.view({-1}).narrow(0, member * share, share), member, comm, stream);
      }
      state_.api.group_end();
    });
  }

  WorkHandle broadcast(const at::Tensor& tensor, std::int32_t root, const Group& group) override {
    check_collective(CollectiveCall::broadcast, tensor, tensor, group);
    return issue(members(group), {tensor},
                 [&](NcclComm comm, DeviceStream& stream) { state_.api.broadcast(tensor, root, comm, stream); });
  }

  WorkHandle barrier(const Group& group) override {
    return all_reduce(state_.api.one_element(), Reduction::sum, group);
  }

  void abort(const std::string& reason, StopCause cause) noexcept override {
    if (state_.stopped) return;
    try {
      state_.bootstrap.set(stop_key, stop_word(reason, cause));
    } catch (...) {  // the place to tell it is gone; the others find out by their own timeouts
    }
    state_.stop(stop_word(reason, cause));
  }

  void poll() override { state_.throw_if_stopped(); }

 private:
  Communicator make(const std::string& key, std::int32_t ranks, std::int32_t index, const NcclCommOptions& options) {
    NcclId id{};
    if (index == 0) {
      id = state_.api.unique_id();
      state_.bootstrap.set(key, std::string(id.begin(), id.end()));
    } else {
      const std::string bytes = state_.bootstrap.get(key);
      std::copy_n(bytes.begin(), std::min(bytes.size(), id.size()), id.begin());
    }
    return {state_.api.init_rank(ranks, id, index, options), state_.api.make_stream()};
  }

  Communicator& channel(std::int32_t from, std::int32_t to, std::int32_t number) {
    const auto found = state_.channels.find({from, to, number});
    if (found == state_.channels.end()) {
      throw TransportError(TransportFailure::refused, "nccl: channel " + std::to_string(number) + " from rank " +
                                                          std::to_string(from) + " to rank " + std::to_string(to) +
                                                          " was not connected");
    }
    return found->second;
  }

  Communicator& members(const Group& group) { return state_.groups[static_cast<std::size_t>(group.id)]; }

  template <class Call>
  WorkHandle issue(Communicator& communicator, std::vector<at::Tensor> kept, Call&& call) {
    state_.throw_if_stopped();
    const std::unique_ptr<DeviceEvent> ready = state_.api.record(nullptr);
    state_.api.wait(communicator.stream.get(), *ready);
    std::unique_ptr<DeviceEvent> began = state_.api.record(communicator.stream.get());
    call(communicator.comm, *communicator.stream);
    std::unique_ptr<DeviceEvent> ended = state_.api.record(communicator.stream.get());
    return std::make_unique<NcclWork>(state_, communicator.comm, std::move(kept), std::move(began), std::move(ended));
  }

  void finish(Communicator& communicator) {
    if (communicator.comm != nullptr) state_.api.destroy(communicator.comm);
  }

  NcclState state_;
};

}  // namespace

std::unique_ptr<Transport> make_nccl_transport(NcclApi& api, Bootstrap& bootstrap, std::int32_t rank, std::int32_t size,
                                               const TransportOptions& options) {
  return std::make_unique<NcclTransport>(api, bootstrap, rank, size, options);
}

}  // namespace stagecraft
