#pragma once
// How ranks exchange tensors. Three back ends (in_process, mpi, nccl) keep one contract, checked by one suite of tests:
// - Every call returns at once with a work handle that keeps its tensors alive.
// - A message is named by (peer, channel, tag); messages of equal name arrive in the order they were sent.
// - Collectives of one group are called by all its members in one order. Groups are made by all ranks in one order.
// - Tensors are dense, contiguous and of equal size at both ends; a mismatch is an error, not a hang, where the back
// end sees both.
// - Reductions add in ascending rank order where `ordered_reduction` is set; bf16 and fp16 are added in fp32, rounded
// once.
// - No wait outlasts the timeout; after abort() every pending and later call of every rank throws.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "exec/torch.hpp"

namespace stagecraft {

enum class TransportFailure : std::uint8_t {
  timed_out,  // nothing arrived within the timeout
  aborted,    // another rank stopped the job; the message is its reason
  refused,    // sizes, types or names that cannot work
  failed,     // the library below reported an error
};

/// What made a rank stop the job.
enum class StopCause : std::uint8_t {
  failed,     // it could not go on
  timed_out,  // it waited in vain
};

class TransportError : public std::runtime_error {
 public:
  TransportError(TransportFailure failure, const std::string& message, StopCause cause = StopCause::failed)
      : std::runtime_error(message), failure_(failure), cause_(cause) {}
  TransportFailure failure() const { return failure_; }
  StopCause cause() const { return cause_; }  // of an abort

 private:
  TransportFailure failure_;
  StopCause cause_;
};

/// Seconds of the steady clock of this machine.
double now_s();

/// Host times of one operation, in seconds of now_s(). On a GPU `started_s` and `finished_s` come from events.
struct WorkTimes {
  double posted_s = 0;    // when the operation was handed over
  double started_s = 0;   // when both ends were there; = posted_s where the back end cannot tell
  double finished_s = 0;  // when its completion was seen
};

/// One operation under way. Destroying it before it has finished waits for it, unless the job was aborted.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;

  /// True once finished; lets the back end make progress. Throws TransportError.
  virtual bool query() = 0;
  /// Returns when the tensors may be used: by the host on CPU, by work queued on the current stream on GPU.
  /// Throws TransportError.
  virtual void wait() = 0;
  /// Valid once query() returned true.
  virtual WorkTimes times() const = 0;
};

using WorkHandle = std::unique_ptr<Work>;

/// Name of a message between two ranks. `channel` orders (plan: pipeline channels), `tag` tells messages apart.
struct Message {
  std::int32_t peer = 0;
  std::int32_t channel = 0;
  std::int32_t tag = 0;
};

/// One tag per (kind, stage, micro-batch); at most 2 * stages * micro_batches of them.
constexpr std::int32_t message_tag(bool gradient, std::int32_t stage, std::int32_t stages, std::int32_t micro_batch) {
  return (micro_batch * stages + stage) * 2 + (gradient ? 1 : 0);
}

enum class Reduction : std::uint8_t { sum, max };

/// A communicator as its members see it.
struct Group {
  std::int32_t id = -1;
  std::int32_t index = -1;          // of this rank in `ranks`; -1: not a member
  std::vector<std::int32_t> ranks;  // ascending
  std::int32_t size() const { return static_cast<std::int32_t>(ranks.size()); }
};

/// A directed pair of ranks whose messages keep one order; made known before the first message.
struct ChannelEnds {
  std::int32_t from = 0, to = 0;
  std::int32_t channel = 0;  // Message::channel of what passes
};

struct TransportOptions {
  double timeout_s = 60;
  bool ordered_reduction = true;
};

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual std::int32_t rank() const = 0;
  virtual std::int32_t size() const = 0;
  virtual const char* name() const = 0;  // "in-process", "mpi", "nccl"

  /// All ranks call these with the same arguments, in the same order, before they exchange anything.
  virtual void connect(const std::vector<ChannelEnds>& channels) = 0;
  virtual Group make_group(const std::vector<std::int32_t>& ranks) = 0;

  virtual WorkHandle isend(const at::Tensor& tensor, const Message& message) = 0;
  virtual WorkHandle irecv(const at::Tensor& tensor, const Message& message) = 0;

  /// In place.
  virtual WorkHandle all_reduce(const at::Tensor& tensor, Reduction reduction, const Group& group) = 0;
  /// `output` holds group.size() times the elements of `input`, in rank order.
  virtual WorkHandle all_gather(const at::Tensor& output, const at::Tensor& input, const Group& group) = 0;
  /// `input` holds group.size() times the elements of `output`.
  virtual WorkHandle reduce_scatter(const at::Tensor& output, const at::Tensor& input, Reduction reduction,
                                    const Group& group) = 0;
  /// Part i of `input` goes to member i; part i of `output` comes from member i.
  virtual WorkHandle all_to_all(const at::Tensor& output, const at::Tensor& input, const Group& group) = 0;
  /// From member `root` (an index into group.ranks) into `tensor` of all others.
  virtual WorkHandle broadcast(const at::Tensor& tensor, std::int32_t root, const Group& group) = 0;
  virtual WorkHandle barrier(const Group& group) = 0;

  /// Makes every rank's pending and later calls throw with this reason and cause. Safe from any thread, never throws.
  virtual void abort(const std::string& reason, StopCause cause) noexcept = 0;
  /// Lets pending operations progress; throws if the job was aborted. Called between operations.
  virtual void poll() = 0;
};

}  // namespace stagecraft
