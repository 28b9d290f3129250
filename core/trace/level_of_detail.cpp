#include "trace/level_of_detail.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

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
    "context communication",
    "expert communication",
    "pipeline communication",
    "data communication",
    "copies between GPU and host",
    "waits for a message",
    "waits for a collective",
    "waits for a copy",
    "bubble, warm-up",
    "bubble, steady",
    "bubble, cool-down",
    "idle, other",
};

/// Part of `whole` that falls before `at` when spread evenly over a slice: cuts add up to the whole.
std::int64_t part_before(std::int64_t whole, std::int64_t at, std::int64_t length) {
  return std::llround(static_cast<double>(whole) * static_cast<double>(at) / static_cast<double>(length));
}

using Four = std::int32_t __attribute__((vector_size(16)));
using FourLong = std::int64_t __attribute__((vector_size(32)));

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
    case OpKind::offload:
    case OpKind::reload:
    case OpKind::offload_grad:
    case OpKind::reload_param:
      return SliceClass::copies;
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
    case SliceClass::context:
      return TimeClass::context_communication;
    case SliceClass::expert:
      return TimeClass::expert_communication;
    case SliceClass::copies:
    case SliceClass::awaits_copies:
      return TimeClass::host_copies;
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

void SliceRow::add(const SlotTime& slot_time, TimeByClass& time) const {
  for (std::size_t s = 0; s < slots_.size(); ++s) time[static_cast<std::size_t>(slots_[s])] += slot_time[s];
}

void SliceRow::reserve(std::size_t slices) {
  span_.reserve(slices);
  block_begin_.reserve(slices / block_size + 1);
  blocks_.reserve(slices / block_size + 1);
}

std::uint8_t SliceRow::slot_of(SliceClass kind) {
  const auto found = std::find(slots_.begin(), slots_.end(), kind);
  const auto slot = static_cast<std::uint8_t>(found - slots_.begin());
  if (found == slots_.end()) slots_.push_back(kind);
  if (slots_.size() > few_slots && more_sums_.empty()) more_sums_.resize(blocks_.size());
  return slot;
}

/// Times that do not fit into 32 bits move into arrays of their own.
void SliceRow::go_far() {
  std::vector<std::int64_t> begins, ends;
  for (std::size_t i = 0; i < span_.size(); ++i) {
    begins.push_back(begin_ns(i));
    ends.push_back(end_ns(i));
  }
  far_begin_ = std::move(begins);
  far_end_ = std::move(ends);
}

void SliceRow::append(const Slice& slice) {
  assert(slice.end_ns > slice.begin_ns && (span_.empty() || slice.begin_ns >= end_));
  const std::size_t i = span_.size();
  if (i % block_size == 0) {
    block_begin_.push_back(slice.begin_ns);
    std::copy_n(sum_.begin(), few_slots, blocks_.emplace_back().sum.begin());
    if (!more_sums_.empty()) std::copy_n(sum_.begin() + few_slots, more_slots, more_sums_.emplace_back().begin());
  }
  const std::int64_t length = slice.end_ns - slice.begin_ns;
  const std::int64_t tensor = std::clamp<std::int64_t>(slice.tensor_ns, 0, length);
  if (tensor > 0 && tensor_.empty()) {
    tensor_.resize(i);
    tensor_slot_ = slot_of(SliceClass::tensor);
  }
  if (!tensor_.empty() || tensor > 0) tensor_.push_back(tensor);
  InnerTime inner = slice.inner_ns;
  std::int64_t rest = length - tensor;
  for (std::int64_t& part : inner) {
    part = std::clamp<std::int64_t>(part, 0, rest);
    rest -= part;
  }
  if (rest < length - tensor && inner_.empty()) {
    inner_.resize(i);
    for (std::size_t k = 0; k < inner.size(); ++k) inner_slots_[k] = slot_of(inner_classes[k]);
  }
  if (!inner_.empty() || rest < length - tensor) {
    inner_.push_back(inner);
    for (std::size_t k = 0; k < inner.size(); ++k) sum_[inner_slots_[k]] += inner[k];
  }
  const std::uint8_t slot = slot_of(slice.kind);
  sum_[slot] += rest;
  if (tensor > 0) sum_[tensor_slot_] += tensor;
  Block& block = blocks_.back();
  block.slot[i % block_size] = slot;
  const std::int64_t end = slice.end_ns - block_begin_.back();
  const bool far = !far_end_.empty() || end > std::numeric_limits<std::int32_t>::max();
  if (far && far_end_.empty()) go_far();
  if (far) {
    far_begin_.push_back(slice.begin_ns);
    far_end_.push_back(slice.end_ns);
  } else {
    block.begin[i % block_size] = static_cast<std::int32_t>(end - length);
    block.end[i % block_size] = static_cast<std::int32_t>(end);
  }
  span_.push_back(slice.span);
  end_ = slice.end_ns;
}

std::size_t SliceRow::first_ending_after(std::int64_t time_ns) const {
  // Every slice before the last block that begins at or before the time has ended by then, but for its own last one.
  const auto later = std::upper_bound(block_begin_.begin(), block_begin_.end(), time_ns);
  if (later == block_begin_.begin()) return 0;
  std::size_t i = static_cast<std::size_t>(later - block_begin_.begin() - 1) * block_size;
  while (i < size() && end_ns(i) <= time_ns) ++i;
  return i;
}

std::size_t SliceRow::at(std::int64_t time_ns) const {
  const std::size_t i = first_ending_after(time_ns);
  return i < size() && begin_ns(i) <= time_ns ? i : size();
}

/// The last block, from block `at` on, that begins at or before `time_ns`; `at` itself if none does.
std::size_t SliceRow::block_of(std::int64_t time_ns, std::size_t at) const {
  const std::size_t blocks = block_begin_.size();
  constexpr std::size_t window = 8;  // counted without a branch, which would be mispredicted
  if (at + window < blocks) {
    std::size_t passed = 0;
    for (std::size_t i = 1; i <= window; ++i) passed += block_begin_[at + i] <= time_ns ? 1U : 0U;
    at += passed;
    if (passed < window) return at;
  }
  std::size_t reach = 1;  // galloping
  while (at + reach < blocks && block_begin_[at + reach] <= time_ns) {
    at += reach;
    reach *= 2;
  }
  for (; reach > 0; reach /= 2) {
    if (at + reach < blocks && block_begin_[at + reach] <= time_ns) at += reach;
  }
  return at;
}

void SliceRow::move_tensor_part(std::size_t i, std::int64_t from_ns, std::int64_t to_ns, SlotTime& time) const {
  const std::int64_t begin = begin_ns(i), length = end_ns(i) - begin;
  const std::int64_t part =
      part_before(tensor_[i], to_ns - begin, length) - part_before(tensor_[i], from_ns - begin, length);
  time[slot(i)] -= part;
  time[tensor_slot_] += part;
}

void SliceRow::move_inner_parts(std::size_t i, std::int64_t from_ns, std::int64_t to_ns, SlotTime& time) const {
  const std::int64_t begin = begin_ns(i), length = end_ns(i) - begin;
  for (std::size_t k = 0; k < inner_classes.size(); ++k) {
    const std::int64_t whole = inner_[i][k];
    const std::int64_t part = part_before(whole, to_ns - begin, length) - part_before(whole, from_ns - begin, length);
    time[slot(i)] -= part;
    time[inner_slots_[k]] += part;
  }
}

void SliceRow::before(std::int64_t time_ns, std::size_t at, SlotTime& time) const {
  const Block& block = blocks_[at];
  if (slots_.size() <= few_slots && tensor_.empty() && inner_.empty() && far_end_.empty()) {
    // Every slice adds what of it lies before the time, which may be nothing; empty places have no length. No branch
    // and no address depends on the data, so that the compiler does several slices or slots at once.
    constexpr std::int64_t latest = std::numeric_limits<std::int32_t>::max();
    const auto within = static_cast<std::int32_t>(std::clamp<std::int64_t>(time_ns - block_begin_[at], 0, latest));
    const Four first_slots{0, 1, 2, 3}, last_slots{4, 5, 6, 7};
    Four first{}, last{};
    for (std::size_t i = 0; i < block_size; ++i) {
      const std::int32_t inside = std::min(within, block.end[i]) - std::min(within, block.begin[i]);
      const std::int32_t slot = block.slot[i];
      first += (slot + Four{} == first_slots) & inside;
      last += (slot + Four{} == last_slots) & inside;
    }
    FourLong sums[2];
    std::memcpy(sums, block.sum.data(), sizeof(sums));
    sums[0] += __builtin_convertvector(first, FourLong);
    sums[1] += __builtin_convertvector(last, FourLong);
    std::memcpy(time.data(), sums, sizeof(sums));
    return;
  }
  std::copy(block.sum.begin(), block.sum.end(), time.begin());
  if (!more_sums_.empty()) std::copy_n(more_sums_[at].begin(), more_slots, time.begin() + few_slots);
  const std::size_t first = at * block_size, last = std::min(first + block_size, size());
  for (std::size_t i = first; i < last && begin_ns(i) < time_ns; ++i) {
    add_part(i, begin_ns(i), std::min(end_ns(i), time_ns), time);
  }
}

TimeByClass SliceRow::between(std::int64_t from_ns, std::int64_t to_ns) const {
  TimeByClass time{};
  if (to_ns <= from_ns || span_.empty()) return time;
  SlotTime first{}, last{};
  const std::size_t block = block_of(from_ns, 0);
  before(from_ns, block, first);
  before(to_ns, block_of(to_ns, block), last);
  for (std::size_t s = 0; s < slots_.size(); ++s) last[s] -= first[s];
  add(last, time);
  return time;
}

TimeByClass SliceRow::sum() const {
  TimeByClass time{};
  add(sum_, time);
  return time;
}

}  // namespace stagecraft
