#include "exec/transport/mpi.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "exec/transport/checks.hpp"
#include "exec/transport/mpi_work.hpp"
#include "exec/transport/reduce.hpp"
#include "exec/transport/stop_word.hpp"

namespace stagecraft {

namespace {

constexpr std::int32_t tags_per_channel = 1 << 20;
constexpr std::int32_t channel_limit = 1 << 10;  // MPI guarantees tags up to what MPI_TAG_UB says; Open MPI: 2^31-1

int mpi_tag(const Message& message) {
  if (message.tag >= tags_per_channel || message.channel < 0 || message.channel >= channel_limit) {
    throw TransportError(TransportFailure::refused, "mpi: channel " + std::to_string(message.channel) + ", tag " +
                                                        std::to_string(message.tag) + " exceed 1023 and 1048575");
  }
  return message.channel * tags_per_channel + message.tag;
}

std::vector<at::Tensor> rows_of(const at::Tensor& gathered, std::int32_t rows) {
  const at::Tensor table = gathered.view({rows, -1});
  std::vector<at::Tensor> parts;
  for (std::int32_t row = 0; row < rows; ++row) parts.push_back(table[row]);
  return parts;
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MpiState& state) : state_(state) {}

  std::int32_t rank() const override { return state_.rank; }
  std::int32_t size() const override { return state_.size; }
  const char* name() const override { return "mpi"; }
  void connect(const std::vector<ChannelEnds>&) override {}

  Group make_group(const std::vector<std::int32_t>& ranks) override {
    check_group(ranks, size());
    Group group{static_cast<std::int32_t>(state_.groups.size()), -1, ranks};
    const auto found = std::find(ranks.begin(), ranks.end(), rank());
    MPI_Comm made = MPI_COMM_NULL;
    if (found != ranks.end()) {
      group.index = static_cast<std::int32_t>(found - ranks.begin());
      MPI_Group world = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
      check_mpi(MPI_Comm_group(state_.messages, &world), "MPI_Comm_group");
      check_mpi(MPI_Group_incl(world, group.size(), ranks.data(), &members), "MPI_Group_incl");
      check_mpi(MPI_Comm_create_group(state_.messages, members, group.id, &made), "MPI_Comm_create_group");
      MPI_Group_free(&members);
      MPI_Group_free(&world);
      MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    }
    state_.groups.push_back(made);
    return group;
  }

  WorkHandle isend(const at::Tensor& tensor, const Message& message) override {
    check_message(tensor, message, rank(), size());
    auto work = begin({tensor});
    check_mpi(MPI_Isend(tensor.data_ptr(), mpi_count(tensor.numel()), type_of(tensor), message.peer, mpi_tag(message),
                        state_.messages, work->request()),
              "MPI_Isend");
    return work;
  }

  WorkHandle irecv(const at::Tensor& tensor, const Message& message) override {
    check_message(tensor, message, rank(), size());
    check_usable(tensor);
    return std::make_unique<MpiReceive>(state_, tensor, message, mpi_tag(message));
  }

  WorkHandle all_reduce(const at::Tensor& tensor, Reduction reduction, const Group& group) override {
    check_collective(CollectiveCall::all_reduce, tensor, tensor, group);
    const int count = mpi_count(tensor.numel());
    if (!state_.options.ordered_reduction || group.size() == 2) {  // of two addends every order gives the same bits
      auto work = begin({tensor});
      check_mpi(MPI_Iallreduce(MPI_IN_PLACE, tensor.data_ptr(), count, type_of(tensor),
                               mpi_op(state_, tensor.scalar_type(), reduction), comm(group), work->request()),
                "MPI_Iallreduce");
      return work;
    }
    const at::Tensor gathered = at::empty({group.size(), tensor.numel()}, tensor.options());
    auto work = begin({tensor, gathered});
    check_mpi(MPI_Iallgather(tensor.data_ptr(), count, type_of(tensor), gathered.data_ptr(), count, type_of(tensor),
                             comm(group), work->request()),
              "MPI_Iallgather");
    work->then([flat = tensor.view({-1}), gathered, reduction, rows = group.size()] {
      reduce_in_order(flat, rows_of(gathered, rows), reduction);
    });
    return work;
  }

  WorkHandle all_gather(const at::Tensor& output, const at::Tensor& input, const Group& group) override {
    check_collective(CollectiveCall::all_gather, output, input, group);
    const int count = mpi_count(input.numel());
    auto work = begin({output, input});
    check_mpi(MPI_Iallgather(input.data_ptr(), count, type_of(input), output.data_ptr(), count, type_of(input),
                             comm(group), work->request()),
              "MPI_Iallgather");
    return work;
  }

  WorkHandle reduce_scatter(const at::Tensor& output, const at::Tensor& input, Reduction reduction,
                            const Group& group) override {
    check_collective(CollectiveCall::reduce_scatter, output, input, group);
    const int count = mpi_count(output.numel());
    if (!state_.options.ordered_reduction || group.size() == 2) {
      auto work = begin({output, input});
      check_mpi(
          MPI_Ireduce_scatter_block(input.data_ptr(), output.data_ptr(), count, type_of(output),
                                    mpi_op(state_, output.scalar_type(), reduction), comm(group), work->request()),
          "MPI_Ireduce_scatter_block");
      return work;
    }
    const at::Tensor gathered = at::empty({group.size(), output.numel()}, output.options());
    auto work = begin({output, input, gathered});
    check_mpi(MPI_Ialltoall(input.data_ptr(), count, type_of(output), gathered.data_ptr(), count, type_of(output),
                            comm(group), work->request()),
              "MPI_Ialltoall");
    work->then([flat = output.view({-1}), gathered, reduction, rows = group.size()] {
      reduce_in_order(flat, rows_of(gathered, rows), reduction);
    });
    return work;
  }

  WorkHandle all_to_all(const at::Tensor& output, const at::Tensor& input, const Group& group) override {
    check_collective(CollectiveCall::all_to_all, output, input, group);
    const int count = mpi_count(input.numel() / group.size());
    auto work = begin({output, input});
    check_mpi(MPI_Ialltoall(input.data_ptr(), count, type_of(input), output.data_ptr(), count, type_of(input),
                            comm(group), work->request()),
              "MPI_Ialltoall");
    return work;
  }

  WorkHandle broadcast(const at::Tensor& tensor, std::int32_t root, const Group& group) override {
    check_collective(CollectiveCall::broadcast, tensor, tensor, group);
    auto work = begin({tensor});
    check_mpi(
        MPI_Ibcast(tensor.data_ptr(), mpi_count(tensor.numel()), type_of(tensor), root, comm(group), work->request()),
        "MPI_Ibcast");
    return work;
  }

  WorkHandle barrier(const Group& group) override {
    check_collective(CollectiveCall::barrier, {}, {}, group);
    auto work = begin({});
    check_mpi(MPI_Ibarrier(comm(group), work->request()), "MPI_Ibarrier");
    return work;
  }

  void abort(const std::string& reason, StopCause cause) noexcept override {
    if (state_.stopped) return;
    state_.stopped = true;
    std::strncpy(state_.stop_text.data(), stop_word(reason, cause).c_str(), abort_text_size - 1);
    // Small enough to leave at once; a peer that is gone must not hold us, so nothing here is waited for.
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      if (MPI_Isend(state_.stop_text.data(), static_cast<int>(abort_text_size), MPI_CHAR, peer, 0, state_.control,
                    &request) == MPI_SUCCESS) {
        int flag = 0;
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      }
    }
  }

  void poll() override { throw_if_stopped(state_); }

 private:
  std::unique_ptr<MpiWork> begin(std::vector<at::Tensor> kept) {
    throw_if_stopped(state_);
    for (const at::Tensor& tensor : kept) check_usable(tensor);
    return std::make_unique<MpiWork>(state_, std::move(kept));
  }
  static void check_usable(const at::Tensor& tensor) {
    if (!tensor.is_cpu()) throw TransportError(TransportFailure::refused, "mpi: only tensors in host memory");
  }
  MPI_Datatype type_of(const at::Tensor& tensor) const { return mpi_type(state_, tensor.scalar_type()); }
  MPI_Comm comm(const Group& group) const { return state_.groups[static_cast<std::size_t>(group.id)]; }

  MpiState& state_;
};

}  // namespace

bool started_by_mpi() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMI_SIZE") != nullptr;
}

MpiJob::MpiJob(const TransportOptions& options) : state_(std::make_unique<MpiState>()) {
  state_->options = options;
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_MULTIPLE) throw TransportError(TransportFailure::failed, "mpi: no MPI_THREAD_MULTIPLE");
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &state_->messages), "MPI_Comm_dup");
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &state_->control), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(state_->messages, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(state_->control, MPI_ERRORS_RETURN);
  MPI_Comm_rank(state_->messages, &state_->rank);
  MPI_Comm_size(state_->messages, &state_->size);
  make_half_operations(*state_);
  check_mpi(MPI_Irecv(state_->stop_text.data(), static_cast<int>(abort_text_size), MPI_CHAR, MPI_ANY_SOURCE, 0,
                      state_->control, &state_->stop_request),
            "MPI_Irecv");
  transport_ = std::make_unique<MpiTransport>(*state_);
}

MpiJob::~MpiJob() {
  if (state_->stopped) return;  // ranks may be gone: ending MPI would wait for them for ever
  MPI_Cancel(&state_->stop_request);
  MPI_Request_free(&state_->stop_request);
  for (MPI_Comm& group : state_->groups) {
    if (group != MPI_COMM_NULL) MPI_Comm_free(&group);
  }
  free_half_operations(*state_);
  MPI_Comm_free(&state_->control);
  MPI_Comm_free(&state_->messages);
  MPI_Finalize();
}

Transport& MpiJob::transport() {
  return *transport_;
}

}  // namespace stagecraft
