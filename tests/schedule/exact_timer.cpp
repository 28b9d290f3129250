// Timer and requests that the schedule tests share.

#include "exact_timer.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "family_request.hpp"

namespace stagecraft::test {

namespace {

using Key = std::tuple<bool, std::int32_t, std::int32_t>;  // backward, stage, micro-batch

struct Done {
  std::int64_t end = 0;
  std::size_t rank = 0;
};

class Timer {
 public:
  Timer(const Schedule& schedule, const TickTimes& times)
      : schedule_(schedule), times_(times), last_stage_(stage_count(schedule) - 1) {}

  Timed run() {
    const std::size_t ranks = schedule_.programs.size();
    std::vector<std::size_t> next(ranks, 0);
    std::vector<std::int64_t> clock(ranks, 0), first(ranks, -1), busy(ranks, 0);
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t r = 0; r < ranks; ++r) {
        while (next[r] < schedule_.programs[r].size()) {
          const Op& op = schedule_.programs[r][next[r]];
          const bool block = op.overlaps_next && times_.pair >= 0;
          auto input = input_of(op, r);
          if (block && input) {
            const auto second = input_of(schedule_.programs[r][next[r] + 1], r);
            input = second ? std::optional(std::max(*input, *second)) : std::nullopt;
          }
          if (!input) break;
          const std::int64_t start = std::max(clock[r], *input);
          const std::int64_t duration = block ? times_.pair : duration_of(op.kind);
          if (first[r] < 0) first[r] = start;
          clock[r] = start + duration;
          busy[r] += duration;
          finish(op, r, clock[r]);
          if (block) finish(schedule_.programs[r][next[r] + 1], r, clock[r]);
          next[r] += block ? 2 : 1;
          progress = true;
        }
      }
    }
    Timed result;
    result.complete = true;
    for (std::size_t r = 0; r < ranks; ++r) {
      result.complete = result.complete && next[r] == schedule_.programs[r].size();
      result.makespan = std::max(result.makespan, clock[r]);
      result.span = std::max(result.span, clock[r] - first[r]);
      result.most_busy = std::max(result.most_busy, busy[r]);
      result.least_busy = r == 0 ? busy[r] : std::min(result.least_busy, busy[r]);
    }
    result.messages = messages_;
    return result;
  }

 private:
  std::int64_t duration_of(OpKind kind) const {
    switch (kind) {
      case OpKind::forward:
        return times_.forward;
      case OpKind::input_grad:
        return times_.input_grad;
      case OpKind::weight_grad:
        return times_.weight_grad;
      default:
        return times_.input_grad + times_.weight_grad;
    }
  }

  std::optional<std::int64_t> arrival(const Key& key, std::size_t rank) {
    const auto found = done_.find(key);
    if (found == done_.end()) return std::nullopt;
    return found->second.end + (found->second.rank == rank ? 0 : times_.send);
  }

  std::optional<std::int64_t> input_of(const Op& op, std::size_t rank) {
    const std::int32_t s = op.stage.value;
    const std::int32_t i = op.micro_batch.value;
    if (op.kind == OpKind::forward) return s == 0 ? std::optional<std::int64_t>(0) : arrival({false, s - 1, i}, rank);
    if (op.kind == OpKind::weight_grad) return arrival({true, s, i}, rank);
    const auto own = arrival({false, s, i}, rank);
    if (!own || s == last_stage_) return own;
    const auto later = arrival({true, s + 1, i}, rank);
    return later ? std::optional(std::max(*own, *later)) : std::nullopt;
  }

  void finish(const Op& op, std::size_t rank, std::int64_t end) {
    if (op.kind == OpKind::weight_grad) return;
    const bool backward = op.kind != OpKind::forward;
    done_[{backward, op.stage.value, op.micro_batch.value}] = {end, rank};
    const std::int32_t to = backward ? op.stage.value - 1 : op.stage.value + 1;
    if (to < 0 || to > last_stage_) return;
    if (rank_of(schedule_, Stage(to), op.replica).index() != rank) ++messages_;
  }

  const Schedule& schedule_;
  TickTimes times_;
  std::int32_t last_stage_;
  std::map<Key, Done> done_;
  std::int64_t messages_ = 0;
};

}  // namespace

Timed time_schedule(const Schedule& schedule, const TickTimes& times) {
  return Timer(schedule, times).run();
}

std::vector<std::int64_t> peak_chunks(const Schedule& schedule, bool freed_at_weight_grad) {
  std::vector<std::int64_t> peaks;
  for (const auto& program : schedule.programs) {
    std::int64_t alive = 0, peak = 0;
    for (const Op& op : program) {
      if (op.kind == OpKind::forward) peak = std::max(peak, ++alive);
      if (op.kind == OpKind::backward) --alive;
      if (op.kind == (freed_at_weight_grad ? OpKind::weight_grad : OpKind::input_grad)) --alive;
    }
    peaks.push_back(peak);
  }
  return peaks;
}

bool runs_every_pass_once(const Schedule& schedule) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::string> passes;  // (stage, micro-batch) -> letters in order
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    for (const Op& op : schedule.programs[r]) {
      if (rank_of(schedule, op.stage, op.replica).index() != r) return false;
      passes[{op.stage.value, op.micro_batch.value}] += word_of(op.kind);
    }
  }
  const std::size_t expected =
      static_cast<std::size_t>(stage_count(schedule)) * static_cast<std::size_t>(schedule.shape.micro_batches);
  if (passes.size() != expected) return false;
  return std::all_of(passes.begin(), passes.end(), [&](const auto& entry) {
    return entry.first.second >= 0 && entry.first.second < schedule.shape.micro_batches &&
           (entry.second == "FB" || entry.second == "FIW");
  });
}

std::vector<std::int32_t> accumulation_order(const Schedule& schedule, std::int32_t stage, std::uint8_t replica) {
  std::vector<std::int32_t> order;
  for (const Op& op : schedule.programs[rank_of(schedule, Stage(stage), replica).index()]) {
    const bool adds = op.kind == OpKind::backward || op.kind == OpKind::weight_grad;
    if (adds && op.stage == Stage(stage) && op.replica == replica) order.push_back(op.micro_batch.value);
  }
  return order;
}

}  // namespace stagecraft::test

namespace stagecraft::test {

std::vector<ScheduleRequest> requests_of(const FamilyEntry& entry) {
  std::vector<std::int32_t> chunks = {1};
  if (entry.chunks == ChunkRule::two) chunks = {2};
  if (entry.chunks == ChunkRule::two_per_wave) chunks = {2, 4};
  if (entry.chunks == ChunkRule::two_or_more) chunks = {2, 3, 4};
  if (entry.chunks == ChunkRule::any) chunks = {1, 2, 3};
  std::vector<ScheduleRequest> requests;
  for (const std::int32_t p : {1, 2, 3, 4, 5, 6, 8}) {
    for (const std::int32_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 21, 24, 32}) {
      for (const std::int32_t v : chunks) {
        ScheduleRequest request;
        request.shape = {p, m, v};
        if (entry.chunks == ChunkRule::two_per_wave) request.waves = v / 2;
        requests.push_back(request);
      }
    }
  }
  return requests;
}

bool accepts(const FamilyEntry& entry, const ScheduleRequest& request) {
  return entry.refuse(request).empty();
}

Schedule generate(std::string_view name, const PipelineShape& shape) {
  ScheduleRequest request;
  request.shape = shape;
  const FamilyEntry& entry = *find_schedule(name);
  if (entry.chunks == ChunkRule::two_per_wave) request.waves = shape.chunks / 2;
  return entry.generate(request);
}

}  // namespace stagecraft::test
