#include "exec/transport/in_process.hpp"

#include <algorithm>
#include <chrono>

#include "exec/transport/in_process_exchange.hpp"
#include "exec/transport/interruption.hpp"
#include "exec/transport/stop_word.hpp"

namespace stagecraft {

namespace {

using Lock = std::unique_lock<std::mutex>;

void raise_abort(InProcessState& state, const std::string& word) {
  {
    const Lock lock(state.mutex);
    if (!state.aborted) state.stop_word = word;
    state.aborted = true;
  }
  state.changed.notify_all();
}

constexpr auto longest_sleep = std::chrono::milliseconds(100);  // between looks at a signal's flag

void throw_if_aborted(const InProcessState& state) {
  throw_if_interrupted();
  if (state.aborted) throw_stopped(state.stop_word);
}

/// Takes and runs pieces until none is left to take. Called and left with the lock held.
void take_pieces(InProcessState& state, Exchange& exchange, Lock& lock) {
  if (exchange.arrived < exchange.members() || !exchange.on_cpu()) return;
  while (exchange.claimed < exchange.pieces) {
    const std::int32_t piece = exchange.claimed++;
    if (piece == 0) exchange.started_s = now_s();
    lock.unlock();
    run_piece(exchange, piece);
    lock.lock();
    if (++exchange.done == exchange.pieces) {
      exchange.finished_s = now_s();
      exchange.complete = true;
      state.changed.notify_all();
    }
  }
}

/// On a GPU the member that arrives last queues all copies on its own stream, behind the events of all members.
void queue_on_device(Exchange& exchange, const c10::Stream& stream) {
  const c10::StreamGuard guard(stream);
  for (std::optional<c10::Event>& event : exchange.ready) {
    if (event) event->block(stream);
  }
  exchange.began.emplace(stream.device_type(), c10::EventFlag::BACKEND_DEFAULT);
  exchange.began->record(stream);
  for (std::int32_t piece = 0; piece < exchange.pieces; ++piece) run_piece(exchange, piece);
  exchange.ended.emplace(stream.device_type(), c10::EventFlag::BACKEND_DEFAULT);
  exchange.ended->record(stream);
}

class InProcessWork final : public Work {
 public:
  InProcessWork(InProcessState& state, ExchangePtr exchange, double posted_s)
      : state_(state), exchange_(std::move(exchange)), posted_s_(posted_s) {}

  ~InProcessWork() override {
    try {
      wait();
    } catch (const TransportError&) {  // the job is being stopped; nobody reads the tensors any more
    }
  }

  bool query() override {
    Lock lock(state_.mutex);
    throw_if_aborted(state_);
    take_pieces(state_, *exchange_, lock);
    return exchange_->complete && (!exchange_->ended || exchange_->ended->query());
  }

  void wait() override {
    Lock lock(state_.mutex);
    const auto deadline =
        std::chrono::steady_clock::now() +
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(state_.options.timeout_s));
    while (!exchange_->complete) {
      throw_if_aborted(state_);
      take_pieces(state_, *exchange_, lock);
      if (exchange_->complete) break;
      const auto now = std::chrono::steady_clock::now();
      if (now >= deadline) throw TransportError(TransportFailure::timed_out, "nothing arrived within the timeout");
      state_.changed.wait_until(lock, std::min(now + longest_sleep, deadline));
    }
    if (exchange_->ended) {
      const c10::impl::VirtualGuardImpl device(exchange_->ended->device_type());
      exchange_->ended->block(device.getStream(device.getDevice()));
    }
  }

  WorkTimes times() const override {
    WorkTimes times{posted_s_, exchange_->started_s, exchange_->finished_s};
    if (exchange_->ended) {
      times.started_s = state_.anchor_s + state_.anchor->elapsedTime(*exchange_->began) * 1e-3;
      times.finished_s = state_.anchor_s + state_.anchor->elapsedTime(*exchange_->ended) * 1e-3;
    }
    return times;
  }

 private:
  InProcessState& state_;
  ExchangePtr exchange_;
  double posted_s_;
};

class InProcessTransport final : public Transport {
 public:
  InProcessTransport(InProcessState& state, std::int32_t rank) : state_(state), rank_(rank) {}

  std::int32_t rank() const override { return rank_; }
  std::int32_t size() const override { return state_.ranks; }
  const char* name() const override { return "in-process"; }
  void connect(const std::vector<ChannelEnds>&) override {}

  Group make_group(const std::vector<std::int32_t>& ranks) override {
    check_group(ranks, size());
    const Lock lock(state_.mutex);
    const std::size_t id = groups_made_++;
    if (id == state_.groups.size()) {
      state_.groups.push_back({ranks, std::vector<std::uint64_t>(ranks.size(), 0), {}});
    } else if (state_.groups[id].ranks != ranks) {
      throw TransportError(TransportFailure::refused, "group: the ranks do not make their groups in one order");
    }
    const auto found = std::find(ranks.begin(), ranks.end(), rank_);
    const auto index = found == ranks.end() ? -1 : static_cast<std::int32_t>(found - ranks.begin());
    return {static_cast<std::int32_t>(id), index, ranks};
  }

  WorkHandle isend(const at::Tensor& tensor, const Message& message) override { return post(tensor, message, 0); }
  WorkHandle irecv(const at::Tensor& tensor, const Message& message) override { return post(tensor, message, 1); }

  WorkHandle all_reduce(const at::Tensor& tensor, Reduction reduction, const Group& group) override {
    return join(CollectiveCall::all_reduce, tensor, tensor, reduction, 0, group);
  }
  WorkHandle all_gather(const at::Tensor& output, const at::Tensor& input, const Group& group) override {
    return join(CollectiveCall::all_gather, output, input, Reduction::sum, 0, group);
  }
  WorkHandle reduce_scatter(const at::Tensor& output, const at::Tensor& input, Reduction reduction,
                            const Group& group) override {
    return join(CollectiveCall::reduce_scatter, output, input, reduction, 0, group);
  }
  WorkHandle all_to_all(const at::Tensor& output, const at::Tensor& input, const Group& group) override {
    return join(CollectiveCall::all_to_all, output, input, Reduction::sum, 0, group);
  }
  WorkHandle broadcast(const at::Tensor& tensor, std::int32_t root, const Group& group) override {
    return join(CollectiveCall::broadcast, tensor, tensor, Reduction::sum, root, group);
  }
  WorkHandle barrier(const Group& group) override {
    return join(CollectiveCall::barrier, {}, {}, Reduction::sum, 0, group);
  }

  void abort(const std::string& reason, StopCause cause) noexcept override {
    raise_abort(state_, stop_word(reason, cause));
  }

  void poll() override {
    const Lock lock(state_.mutex);
    throw_if_aborted(state_);
  }

 private:
  /// end 0 sends, end 1 receives.
  WorkHandle post(const at::Tensor& tensor, const Message& message, std::size_t end) {
    check_message(tensor, message, rank_, size());
    const double posted_s = now_s();
    Lock lock(state_.mutex);
    throw_if_aborted(state_);
    auto& line = state_.mail[end == 0 ? std::tuple(rank_, message.peer, message.channel, message.tag)
                                      : std::tuple(message.peer, rank_, message.channel, message.tag)];
    const auto other = std::find_if(line.begin(), line.end(), [end](const ExchangePtr& exchange) {
      return !(end == 0 ? exchange->inputs[0] : exchange->outputs[1]).defined();
    });
    ExchangePtr exchange = other != line.end() ? *other : c10::make_intrusive<Exchange>();
    if (other != line.end()) {
      line.erase(other);
    } else {
      exchange->is_message = true;
      exchange->inputs.resize(2);
      exchange->outputs.resize(2);
      exchange->ready.resize(2);
      line.push_back(exchange);
    }
    (end == 0 ? exchange->inputs[0] : exchange->outputs[1]) = tensor;
    arrive(*exchange, end, tensor, lock);
    return std::make_unique<InProcessWork>(state_, std::move(exchange), posted_s);
  }

  WorkHandle join(CollectiveCall call, const at::Tensor& output, const at::Tensor& input, Reduction reduction,
                  std::int32_t root, const Group& group) {
    check_collective(call, output, input, group);
    const double posted_s = now_s();
    Lock lock(state_.mutex);
    throw_if_aborted(state_);
    InProcessGroup& shared = state_.groups[static_cast<std::size_t>(group.id)];
    const auto member = static_cast<std::size_t>(group.index);
    const std::uint64_t number = shared.calls[member]++;
    ExchangePtr& slot = shared.open[number];
    if (!slot) {
      slot = c10::make_intrusive<Exchange>();
      slot->call = call;
      slot->reduction = reduction;
      slot->root = root;
      slot->inputs.resize(shared.ranks.size());
      slot->outputs.resize(shared.ranks.size());
      slot->ready.resize(shared.ranks.size());
    }
    ExchangePtr exchange = slot;
    if (exchange->call != call || exchange->root != root || exchange->reduction != reduction) {
      exchange->problem = std::string(to_text(call)) + " meets " + to_text(exchange->call) + " in one group";
    }
    exchange->inputs[member] = input;
    exchange->outputs[member] = output;
    if (exchange->arrived + 1 == exchange->members()) shared.open.erase(number);
    arrive(*exchange, member, input, lock);
    return std::make_unique<InProcessWork>(state_, std::move(exchange), posted_s);
  }

  /// Called and left with the lock held.
  void arrive(Exchange& exchange, std::size_t member, const at::Tensor& tensor, Lock& lock) {
    const bool on_device = tensor.defined() && !tensor.is_cpu();
    if (on_device) {
      const c10::impl::VirtualGuardImpl device(tensor.device().type());
      exchange.ready[member].emplace(tensor.device().type());
      exchange.ready[member]->record(device.getStream(tensor.device()));
    }
    if (++exchange.arrived < exchange.members()) return;
    if (exchange.problem.empty()) exchange.problem = mismatch(exchange);
    if (!exchange.problem.empty()) {
      lock.unlock();
      raise_abort(state_, stop_word(exchange.problem, StopCause::failed));
      throw TransportError(TransportFailure::refused, exchange.problem);
    }
    exchange.pieces = piece_count(exchange);
    exchange.started_s = exchange.finished_s = now_s();
    if (on_device) {
      if (!stream_)
        stream_ = c10::impl::VirtualGuardImpl(tensor.device().type()).getStreamFromGlobalPool(tensor.device());
      if (!state_.anchor) {
        state_.anchor.emplace(stream_->device_type(), c10::EventFlag::BACKEND_DEFAULT);
        state_.anchor->record(*stream_);
        state_.anchor->synchronize();
        state_.anchor_s = now_s();
      }
      queue_on_device(exchange, *stream_);
    }
    exchange.complete = on_device || exchange.pieces == 0;
    state_.changed.notify_all();
  }

  InProcessState& state_;
  std::int32_t rank_;
  std::size_t groups_made_ = 0;
  std::optional<c10::Stream> stream_;
};

}  // namespace

InProcessJob::InProcessJob(std::int32_t ranks, const TransportOptions& options)
    : state_(std::make_unique<InProcessState>(ranks, options)) {
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    transports_.push_back(std::make_unique<InProcessTransport>(*state_, rank));
  }
}

InProcessJob::~InProcessJob() = default;

Transport& InProcessJob::transport(std::int32_t rank) {
  return *transports_.at(static_cast<std::size_t>(rank));
}

}  // namespace stagecraft
