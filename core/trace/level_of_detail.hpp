#pragma once
// A row of a timeline that can be summed over any stretch of time at a cost that follows what is asked, not how many
// slices there are: sums of time by class after every 7 slices. Times are whole nanoseconds, so sums are exact: what
// the pixel columns of a row add up to is what the row adds up to.

#include <array>
#include <cstdint>
#include <vector>

#include "trace/time_class.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

/// What a slice is painted as. Finer than TimeClass where pictures tell more apart.
enum class SliceClass : std::uint8_t {
  forward,
  backward,
  input_grad,
  weight_grad,
  recompute,
  optimizer,
  tensor,           // communication of the tensor group: its own slices, and the part of an operation that waits for it
  context,          // the same of the context group
  expert,           // the same of the expert group
  pipeline,         // messages between stages
  data,             // collectives of the data group
  copies,           // between GPU and host
  awaits_pipeline,  // idle on the compute lane: the message has been sent but is not there
  awaits_data,      // idle on the compute lane: a collective of the data group is awaited
  awaits_copies,    // idle on the compute lane: a copy between GPU and host is awaited
  bubble_warmup,
  bubble_steady,
  bubble_cooldown,
  other,  // idle for no known reason
};
inline constexpr std::size_t slice_class_count = 19;

SliceClass slice_class_of(const Span& span);
TimeClass time_class_of(SliceClass slice_class);
const char* to_text(SliceClass slice_class);
bool is_idle(SliceClass slice_class);  // awaits_* , bubble_* and other

using TimeByClass = std::array<std::int64_t, slice_class_count>;  // nanoseconds
std::int64_t total(const TimeByClass& time);
/// The same in seconds by the classes of the report.
Breakdown breakdown_of(const TimeByClass& time);

inline constexpr std::uint32_t no_span = 0xffffffff;  // of slices that stand for idle time

/// Nanoseconds from seconds, rounded; beyond +-104 days the nearer end.
std::int64_t nanoseconds(double seconds);

/// Nanoseconds of communication inside a slice by these classes.
inline constexpr std::array<SliceClass, 4> inner_classes = {SliceClass::context, SliceClass::expert, SliceClass::data,
                                                            SliceClass::copies};
using InnerTime = std::array<std::int64_t, inner_classes.size()>;

/// Slices of one row in the order of time; they do not overlap and have a length.
class SliceRow {
 public:
  struct Slice {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::int64_t tensor_ns = 0;  // of the slice: exposed tensor-parallel communication
    SliceClass kind = SliceClass::forward;
    std::uint32_t span = no_span;  // index into Trace::spans
    InnerTime inner_ns{};          // of the slice: other exposed communication
  };

  /// Nanoseconds by the slots of this row: slot s counts class slots()[s]. A row has few classes, and sums over few
  /// numbers are what zooming out costs. Slots that a row does not use are 0 in every sum, so that loops over the first
  /// `few_slots`, or over all, may have a fixed length.
  using SlotTime = std::array<std::int64_t, slice_class_count + 1>;
  static constexpr std::size_t few_slots = 8;
  const std::vector<SliceClass>& slots() const { return slots_; }
  void add(const SlotTime& slot_time, TimeByClass& time) const;

  void reserve(std::size_t slices);
  /// Precondition: begins at or after the end of the last one, and ends later than it begins.
  void append(const Slice& slice);

  std::size_t size() const { return span_.size(); }
  Slice operator[](std::size_t i) const { return {begin_ns(i), end_ns(i), tensor(i), kind(i), span_[i], inner(i)}; }
  std::int64_t begin_ns(std::size_t i) const {
    return far_end_.empty() ? block_begin_[i / block_size] + blocks_[i / block_size].begin[i % block_size]
                            : far_begin_[i];
  }
  std::int64_t end_ns(std::size_t i) const {
    return far_end_.empty() ? block_begin_[i / block_size] + blocks_[i / block_size].end[i % block_size] : far_end_[i];
  }
  std::size_t slot(std::size_t i) const { return blocks_[i / block_size].slot[i % block_size]; }
  std::size_t tensor_slot() const { return tensor_slot_; }  // of a row in which slices have tensor parts
  SliceClass kind(std::size_t i) const { return slots_[slot(i)]; }
  std::uint32_t span(std::size_t i) const { return span_[i]; }

  /// Index of the first slice that ends after `time_ns`; size() if there is none.
  std::size_t first_ending_after(std::int64_t time_ns) const;
  /// Slice that holds `time_ns`, or size().
  std::size_t at(std::int64_t time_ns) const;

  /// Time by class within [from_ns, to_ns); the tensor part of a slice that is cut is cut in proportion.
  TimeByClass between(std::int64_t from_ns, std::int64_t to_ns) const;
  TimeByClass sum() const;

  /// The block, not before `from`, that a sum of what lies before `time_ns` needs. Precondition: the row has slices.
  std::size_t block_of(std::int64_t time_ns, std::size_t from) const;
  /// Sums of all that lies before `time_ns`, from the block that block_of() found: its sums and those of its slices. Of
  /// a row of at most few_slots classes only those are written.
  void before(std::int64_t time_ns, std::size_t block, SlotTime& time) const;
  /// Adds what of slice i lies within [from_ns, to_ns).
  void add_part(std::size_t i, std::int64_t from_ns, std::int64_t to_ns, SlotTime& time) const {
    const std::int64_t begin = begin_ns(i), end = end_ns(i);
    const std::int64_t first = begin > from_ns ? begin : from_ns, last = end < to_ns ? end : to_ns;
    time[slot(i)] += last - first;
    if (!tensor_.empty()) move_tensor_part(i, first, last, time);
    if (!inner_.empty()) move_inner_parts(i, first, last, time);
  }

  /// Asks for a block that will be wanted soon: most of the time of a sum is spent waiting for memory.
  [[gnu::always_inline]] void expect(std::size_t block) const {  // else GCC takes it for a call without effect
    if (block >= blocks_.size()) return;
    const char* const at = reinterpret_cast<const char*>(&blocks_[block]);
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
  }

  static constexpr std::size_t block_size = 7;

 private:
  /// 7 slices, together in memory: times relative to the begin of the first one. Two lines of a cache, since zooming
  /// out takes as long as memory does.
  struct alignas(64) Block {
    std::array<std::int64_t, few_slots> sum{};            // of all slices before the block
    std::array<std::int32_t, block_size> begin{}, end{};  // nanoseconds; unused where a row has far times
    std::array<std::uint8_t, block_size> slot{};
  };
  static constexpr std::size_t more_slots = slice_class_count + 1 - few_slots;

  std::int64_t tensor(std::size_t i) const { return tensor_.empty() ? 0 : tensor_[i]; }
  InnerTime inner(std::size_t i) const { return inner_.empty() ? InnerTime{} : inner_[i]; }
  void move_tensor_part(std::size_t i, std::int64_t from_ns, std::int64_t to_ns, SlotTime& time) const;
  void move_inner_parts(std::size_t i, std::int64_t from_ns, std::int64_t to_ns, SlotTime& time) const;
  std::uint8_t slot_of(SliceClass kind);
  void go_far();

  std::vector<std::int64_t> block_begin_;  // begin of slice i * block_size
  std::vector<Block> blocks_;
  std::vector<std::array<std::int64_t, more_slots>>
      more_sums_;                                  // [block] of the further slots; empty if there are none
  std::vector<std::int64_t> far_begin_, far_end_;  // of rows in which 7 slices last longer than 2 s; else empty
  std::vector<std::int64_t> tensor_;               // empty if no slice has any
  std::vector<InnerTime> inner_;                   // the same
  std::vector<std::uint32_t> span_;
  std::vector<SliceClass> slots_;
  std::uint8_t tensor_slot_ = 0;
  std::array<std::uint8_t, inner_classes.size()> inner_slots_{};
  std::int64_t end_ = 0;  // of the last slice
  SlotTime sum_{};
};

}  // namespace stagecraft
