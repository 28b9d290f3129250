#include "gui_traces.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace stagecraft {
namespace {

constexpr double forward_s = 1e-3, backward_s = 2e-3, message_s = 1e-4;

/// Builds 1F1B rank by rank: an operation begins when its rank is free and its message is there.
class Pipeline {
 public:
  Pipeline(int ranks, int micro_batches) : ranks_(ranks), micro_batches_(micro_batches) {
    trace_.producer = "test";
    trace_.scenario = "1F1B";
    trace_.kind = "estimated";
    trace_.labels = {""};
    for (int rank = 0; rank < ranks; ++rank) trace_.ranks.push_back({rank, rank, rank / 2, 1});
  }

  Trace build() {
    std::vector<std::vector<std::pair<bool, int>>> programs;
    for (int rank = 0; rank < ranks_; ++rank) programs.push_back(program(rank));
    std::vector<std::size_t> next(programs.size(), 0);
    std::vector<double> free(programs.size(), 0);
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t r = 0; r < programs.size(); ++r) {
        while (next[r] < programs[r].size() && run(static_cast<int>(r), programs[r][next[r]], free[r])) {
          ++next[r];
          moved = true;
        }
      }
    }
    for (const Span& span : trace_.spans) trace_.end_s = std::max(trace_.end_s, span.end_s);
    trace_.step_end_s = {trace_.end_s};
    add_memory();
    sort_spans(trace_);
    return std::move(trace_);
  }

 private:
  std::vector<std::pair<bool, int>> program(int rank) const {
    std::vector<std::pair<bool, int>> ops;
    const int warm = std::min(ranks_ - rank - 1, micro_batches_);
    for (int m = 0; m < warm; ++m) ops.push_back({true, m});
    for (int m = warm; m < micro_batches_; ++m) {
      ops.push_back({true, m});
      ops.push_back({false, m - warm});
    }
    for (int m = micro_batches_ - warm; m < micro_batches_; ++m) ops.push_back({false, m});
    return ops;
  }

  bool run(int rank, std::pair<bool, int> op, double& free) {
    const auto [forward, m] = op;
    const int from = forward ? rank - 1 : rank + 1;
    double ready = free;
    std::uint32_t message = no_span;
    if (from >= 0 && from < ranks_) {
      const auto sent = sent_.find({forward, from, m});
      if (sent == sent_.end()) return false;
      message = sent->second;
      ready = std::max(ready, trace_.spans[message].end_s);
    }
    const double end = ready + (forward ? forward_s : backward_s);
    const std::uint32_t index = add(forward ? OpKind::forward : OpKind::backward, rank, m, ready, end);
    trace_.spans[index].tensor_s = (end - ready) / 8;
    if (message != no_span) trace_.dependencies.push_back({message, index});
    if (const auto before = last_.find(rank); before != last_.end()) {
      trace_.dependencies.push_back({before->second, index});
    }
    last_[rank] = index;
    free = end;
    const int to = forward ? rank + 1 : rank - 1;
    if (to >= 0 && to < ranks_) {
      const auto kind = forward ? OpKind::send_activation : OpKind::send_gradient;
      const std::uint32_t send = add(kind, rank, m, end, end + message_s);
      trace_.dependencies.push_back({index, send});
      sent_[{forward, rank, m}] = send;
    }
    return true;
  }

  std::uint32_t add(OpKind kind, int rank, int m, double begin_s, double end_s) {
    Span span;
    span.kind = kind;
    span.lane = usual_lane(kind);
    span.rank = span.stage = rank;
    span.micro_batch = m;
    span.begin_s = begin_s;
    span.end_s = end_s;
    trace_.spans.push_back(span);
    return static_cast<std::uint32_t>(trace_.spans.size() - 1);
  }

  void add_memory() {
    constexpr double gib = 1024.0 * 1024 * 1024;
    for (int rank = 0; rank < ranks_; ++rank) {
      CounterSeries activations{"memory/activations", "B", rank, {0}, {0}};
      std::vector<std::pair<double, double>> changes;
      for (const Span& span : trace_.spans) {
        if (span.rank != rank || span.lane != Lane::compute) continue;
        if (span.kind == OpKind::forward) changes.push_back({span.begin_s, 4 * gib});
        if (span.kind == OpKind::backward) changes.push_back({span.end_s, -4 * gib});
      }
      std::sort(changes.begin(), changes.end());
      for (const auto& [time, bytes] : changes) {
        activations.time_s.push_back(time);
        activations.value.push_back(activations.value.back() + bytes);
      }
      trace_.counters.push_back({"memory/parameters", "B", rank, {0}, {8 * gib}});
      trace_.counters.push_back({"memory/optimizer_states", "B", rank, {0}, {16 * gib}});
      trace_.counters.push_back(std::move(activations));
    }
  }

  int ranks_, micro_batches_;
  Trace trace_;
  std::map<std::tuple<bool, int, int>, std::uint32_t> sent_;
  std::map<int, std::uint32_t> last_;
};

}  // namespace

QFont test_font() {
  QFont font(QStringLiteral("DejaVu Sans"));
  font.setPixelSize(12);
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

Trace pipeline(int ranks, int micro_batches) {
  return Pipeline(ranks, micro_batches).build();
}

std::unique_ptr<const gui::LoadedTrace> pipeline_trace(int ranks, int micro_batches) {
  constexpr double usable = 48.0 * 1024 * 1024 * 1024;
  return gui::make_loaded_trace(pipeline(ranks, micro_batches), "1F1B", usable);
}

}  // namespace stagecraft
