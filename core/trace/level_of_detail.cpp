#include "trace/level_of_detail.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace stagecraft {
namespace {

constexpr std::array<const char*, slice_class_count> words = {
    "forward",
    "backward",
    "input gradient",
    "weight gradient",
    "recompute",
    "optimizer",
    "tensor communication",
    "pipeline communication",
    "data communication",
    "waits for a message",
    "waits for a collective",
    "bubble, warm-up",
    "bubble, steady",
    "bubble, cool-down",
    "idle, other",
};

std::int64_t& of(TimeByClass& time, SliceClass slice_class) {
  return time[static_cast<std::size_t>(slice_class)];
}

/// Part of `whole` that falls before `at` when spread evenly over a slice: cuts add up to the whole.
std::int64_t part_before(std::int64_t whole, std::int64_t at, std::int64_t length) {
  return std::llround(static_cast<double>(whole) * static_cast<double>(at) / static_cast<double>(length));
}

}  // namespace

SliceClass slice_class_of(const Span& span) {
  if (span.segment >= 0 && span.tensor_s > 0 && span.tensor_s >= span.end_s - span.begin_s) return SliceClass::tensor;
  if (span.lane == Lane::tensor) return SliceClass::tensor;
  switch (span.kind) {
    case OpKind::forward:
      return SliceClass::forward;
    case OpKind::backward:
      return SliceClass::backward;
    case OpKind::input_grad:
      return SliceClass::input_grad;
    case OpKind::weight_grad:
      return SliceClass::weight_grad;
    case OpKind::recompute:
      return SliceClass::recompute;
    case OpKind::optimizer_step:
      return SliceClass::optimizer;
    case OpKind::send_activation:
    case OpKind::recv_activation:
    case OpKind::send_gradient:
    case OpKind::recv_gradient:
      return SliceClass::pipeline;
    case OpKind::unshard:
    case OpKind::reshard:
    case OpKind::reduce_grad:
    case OpKind::reduce_tied:
    case OpKind::gather_params:
      return SliceClass::data;
  }
  return SliceClass::other;
}

TimeClass time_class_of(SliceClass slice_class) {
  switch (slice_class) {
    case SliceClass::forward:
      return TimeClass::forward;
    case SliceClass::backward:
    case SliceClass::input_grad:
    case SliceClass::weight_grad:
      return TimeClass::backward;
    case SliceClass::recompute:
      return TimeClass::recompute;
    case SliceClass::optimizer:
      return TimeClass::optimizer;
    case SliceClass::tensor:
      return TimeClass::tensor_communication;
    case SliceClass::pipeline:
    case SliceClass::awaits_pipeline:
      return TimeClass::pipeline_communication;
    case SliceClass::data:
    case SliceClass::awaits_data:
      return TimeClass::data_communication;
    case SliceClass::bubble_warmup:
      return TimeClass::bubble_warmup;
    case SliceClass::bubble_steady:
      return TimeClass::bubble_steady;
    case SliceClass::bubble_cooldown:
      return TimeClass::bubble_cooldown;
    case SliceClass::other:
      return TimeClass::other;
  }
  return TimeClass::other;
}

const char* to_text(SliceClass slice_class) {
  return words[static_cast<std::size_t>(slice_class)];
}

bool is_idle(SliceClass slice_class) {
  return slice_class >= SliceClass::awaits_pipeline;
}

std::int64_t total(const TimeByClass& time) {
  std::int64_t sum = 0;
  for (const std::int64_t part : time) sum += part;
  return sum;
}

Breakdown breakdown_of(const TimeByClass& time) {
  Breakdown seconds{};
  for (std::size_t i = 0; i < slice_class_count; ++i) {
    seconds[static_cast<std::size_t>(time_class_of(static_cast<SliceClass>(i)))] += static_cast<double>(time[i]) * 1e-9;
  }
  return seconds;
}

std::int64_t nanoseconds(double seconds) {
  constexpr double furthest = 9e15;
  return std::llround(std::clamp(seconds * 1e9, -furthest, furthest));
}

void SliceRow::reserve(std::size_t slices) {
  begin_.reserve(slices);
  end_.reserve(slices);
  kind_.reserve(slices);
  span_.reserve(slices);
  block_begin_.reserve(slices / block + 1);
  block_sum_.reserve(slices / block + 1);
}

void SliceRow::append(const Slice& slice) {
  assert(slice.end_ns > slice.begin_ns && (begin_.empty() || slice.begin_ns >= end_.back()));
  if (begin_.size() % block == 0) {
    block_begin_.push_back(slice.begin_ns);
    block_sum_.push_back(sum_);
  }
  const std::int64_t length = slice.end_ns - slice.begin_ns;
  const std::int64_t tensor = std::clamp<std::int64_t>(slice.tensor_ns, 0, length);
  if (tensor > 0 && tensor_.empty()) tensor_.resize(begin_.size());
  if (tensor > 0 || !tensor_.empty()) tensor_.push_back(tensor);
  of(sum_, slice.kind) += length - tensor;
  of(sum_, SliceClass::tensor) += tensor;
  begin_.push_back(slice.begin_ns);
  end_.push_back(slice.end_ns);
  kind_.push_back(slice.kind);
  span_.push_back(slice.span);
}

std::size_t SliceRow::first_ending_after(std::int64_t time_ns) const {
  // Every slice before the last block that begins at or before the time has ended by then, but for its own last one.
  const auto later = std::upper_bound(block_begin_.begin(), block_begin_.end(), time_ns);
  if (later == block_begin_.begin()) return 0;
  std::size_t i = static_cast<std::size_t>(later - block_begin_.begin() - 1) * block;
  while (i < end_.size() && end_[i] <= time_ns) ++i;
  return i;
}

std::size_t SliceRow::at(std::int64_t time_ns) const {
  const std::size_t i = first_ending_after(time_ns);
  return i < size() && begin_[i] <= time_ns ? i : size();
}

void SliceRow::add_part(std::size_t i, std::int64_t from_ns, std::int64_t to_ns, TimeByClass& time) const {
  const std::int64_t begin = std::max(begin_[i], from_ns), end = std::min(end_[i], to_ns);
  std::int64_t tensor_part = 0;
  if (!tensor_.empty() && tensor_[i] > 0) {
    const std::int64_t length = end_[i] - begin_[i];
    tensor_part = part_before(tensor_[i], end - begin_[i], length) - part_before(tensor_[i], begin - begin_[i], length);
    of(time, SliceClass::tensor) += tensor_part;
  }
  of(time, kind_[i]) += end - begin - tensor_part;
}

/// The last block, from block `from` on, before which every slice ends by `to_ns`.
std::size_t SliceRow::last_block_within(std::size_t from, std::int64_t to_ns) const {
  std::size_t reach = 1, low = from;
  while (low + reach < block_begin_.size() && block_begin_[low + reach] <= to_ns) {
    low += reach;
    reach *= 2;
  }
  while (reach > 0) {
    if (low + reach < block_begin_.size() && block_begin_[low + reach] <= to_ns) low += reach;
    reach /= 2;
  }
  return low;
}

std::size_t SliceRow::add_between(std::size_t first, std::int64_t from_ns, std::int64_t to_ns,
                                  TimeByClass& time) const {
  std::size_t i = first;
  while (i < size() && begin_[i] < to_ns) {
    if (i % block == 0 && begin_[i] >= from_ns) {
      const std::size_t here = i / block, there = last_block_within(here, to_ns);
      if (there > here) {
        const TimeByClass &before = block_sum_[here], &after = block_sum_[there];
        for (std::size_t k = 0; k < slice_class_count; ++k) time[k] += after[k] - before[k];
        i = there * block;
        continue;
      }
    }
    add_part(i, from_ns, to_ns, time);
    if (end_[i] > to_ns) break;
    ++i;
  }
  return i;
}

TimeByClass SliceRow::between(std::int64_t from_ns, std::int64_t to_ns) const {
  TimeByClass time{};
  if (to_ns > from_ns) add_between(first_ending_after(from_ns), from_ns, to_ns, time);
  return time;
}

TimeByClass SliceRow::sum() const {
  return sum_;
}

}  // namespace stagecraft
