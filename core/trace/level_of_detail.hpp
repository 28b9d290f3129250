#pragma once
// A row of a timeline that can be summed over any stretch of time at a cost that follows what is asked, not how many
// slices there are: sums of time by class after every 16 slices. Times are whole nanoseconds, so sums are exact: what
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
  pipeline,         // messages between stages
  data,             // collectives of the data group
  awaits_pipeline,  // idle on the compute lane: the message has been sent but is not there
  awaits_data,      // idle on the compute lane: a collective of the data group is awaited
  bubble_warmup,
  bubble_steady,
  bubble_cooldown,
  other,  // idle for no known reason
};
inline constexpr std::size_t slice_class_count = 15;

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

/// Slices of one row in the order of time; they do not overlap and have a length.
class SliceRow {
 public:
  struct Slice {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::int64_t tensor_ns = 0;  // of the slice: exposed tensor-parallel communication
    SliceClass kind = SliceClass::forward;
    std::uint32_t span = no_span;  // index into Trace::spans
  };

  void reserve(std::size_t slices);
  /// Precondition: begins at or after the end of the last one, and ends later than it begins.
  void append(const Slice& slice);

  std::size_t size() const { return begin_.size(); }
  Slice operator[](std::size_t i) const { return {begin_[i], end_[i], tensor(i), kind_[i], span_[i]}; }
  std::int64_t begin_ns(std::size_t i) const { return begin_[i]; }
  std::int64_t end_ns(std::size_t i) const { return end_[i]; }
  SliceClass kind(std::size_t i) const { return kind_[i]; }
  std::uint32_t span(std::size_t i) const { return span_[i]; }

  /// Index of the first slice that ends after `time_ns`; size() if there is none.
  std::size_t first_ending_after(std::int64_t time_ns) const;
  /// Slice that holds `time_ns`, or size().
  std::size_t at(std::int64_t time_ns) const;

  /// Time by class within [from_ns, to_ns); the tensor part of a slice that is cut is cut in proportion.
  TimeByClass between(std::int64_t from_ns, std::int64_t to_ns) const;
  TimeByClass sum() const;

  /// Adds what lies within [from_ns, to_ns) to `time`. `first` is the first slice that ends after from_ns; returned is
  /// the first that ends after to_ns. Costs at most two blocks and a search, however many slices lie between.
  std::size_t add_between(std::size_t first, std::int64_t from_ns, std::int64_t to_ns, TimeByClass& time) const;

 private:
  static constexpr std::size_t block = 16;
  std::int64_t tensor(std::size_t i) const { return tensor_.empty() ? 0 : tensor_[i]; }
  void add_part(std::size_t i, std::int64_t from_ns, std::int64_t to_ns, TimeByClass& time) const;
  std::size_t last_block_within(std::size_t from, std::int64_t to_ns) const;

  std::vector<std::int64_t> begin_, end_, tensor_;  // tensor_ is empty if no slice has any
  std::vector<SliceClass> kind_;
  std::vector<std::uint32_t> span_;
  std::vector<std::int64_t> block_begin_;  // begin of slice i * block
  std::vector<TimeByClass> block_sum_;     // of the slices before i * block
  TimeByClass sum_{};
};

}  // namespace stagecraft
