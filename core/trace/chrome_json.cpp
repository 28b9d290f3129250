#include "trace/chrome_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "trace/output_stream.hpp"
#include "trace/sub_lanes.hpp"

namespace stagecraft {
namespace {

constexpr int rows_per_lane = 1024;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// Microseconds with three digits, from whole nanoseconds.
std::string micros(std::int64_t ns) {
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
}

class Exporter {
 public:
  Exporter(const Trace& trace, const std::function<void(std::string_view)>& write)
      : trace_(trace), write_(write), row_(sub_lanes(trace)) {}

  void run() {
    write_("{\"displayTimeUnit\":\"ms\",\"otherData\":{");
    write_(fmt::format("\"producer\":{},\"scenario\":{},\"kind\":{}", quoted(trace_.producer), quoted(trace_.scenario),
                       quoted(trace_.kind)));
    std::set<std::string> used{"producer", "scenario", "kind"};
    for (const Provenance& entry : trace_.provenance) {
      if (used.insert(entry.key).second) write_(fmt::format(",{}:{}", quoted(entry.key), quoted(entry.value)));
    }
    write_("},\"traceEvents\":[\n");
    processes();
    threads();
    slices();
    flows();
    counters();
    flush();
    write_("\n]}\n");
  }

 private:
  template <class... Values>
  void event(fmt::format_string<Values...> form, Values&&... values) {
    if (!first_) buffer_.append(std::string_view(",\n"));
    first_ = false;
    fmt::format_to(std::back_inserter(buffer_), form, std::forward<Values>(values)...);
    if (buffer_.size() > 65536) flush();
  }

  void flush() {
    write_(std::string_view(buffer_.data(), buffer_.size()));
    buffer_.clear();
  }

  int thread_of(std::size_t span) const {
    return 1 + static_cast<int>(trace_.spans[span].lane) * rows_per_lane + row_[span];
  }

  void process(std::int32_t pid, const std::string& name, const std::string& labels) {
    event(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid, quoted(name));
    event(R"({{"ph":"M","pid":{},"name":"process_labels","args":{{"labels":{}}}}})", pid, quoted(labels));
    event(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})", pid, pid);
  }

  void processes() {
    for (const TraceRank& rank : trace_.ranks) {
      std::string labels = fmt::format("pipeline rank {}, node {}", rank.pipeline_rank, rank.node);
      if (rank.represents > 1) labels += fmt::format(", stands for {} ranks", rank.represents);
      process(rank.rank, fmt::format("rank {}", rank.rank), labels);
      after_ranks_ = std::max(after_ranks_, rank.rank + 1);
    }
    const bool shared = std::any_of(trace_.counters.begin(), trace_.counters.end(),
                                    [](const CounterSeries& series) { return series.rank < 0; });
    if (shared) process(after_ranks_, "network", "links shared by ranks");
  }

  void threads() {
    for (const SpanRange& lane : lanes_of(trace_)) {
      const std::uint16_t last = *std::max_element(row_.begin() + static_cast<std::ptrdiff_t>(lane.first),
                                                   row_.begin() + static_cast<std::ptrdiff_t>(lane.last));
      const Span& any = trace_.spans[lane.first];
      for (int row = 0; row <= last; ++row) {
        const int thread = 1 + static_cast<int>(any.lane) * rows_per_lane + row;
        const std::string name = row == 0 ? to_text(any.lane) : fmt::format("{} {}", to_text(any.lane), row + 1);
        event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", any.rank, thread,
              quoted(name));
        event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", any.rank,
              thread, thread);
      }
    }
  }

  /// Readers of a picture see the arrows alone; why a rank waited hangs on all dependencies.
  void slices() {
    const Predecessors predecessors = predecessors_of(trace_);
    for (std::size_t i = 0; i < trace_.spans.size(); ++i) {
      const Span& span = trace_.spans[i];
      const SpanTime time = time_of(span);
      event(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{{"op":"{}")", span.rank,
            thread_of(i), micros(time.begin_ns), micros(time.end_ns - time.begin_ns), quoted(short_name(trace_, span)),
            word_of(span.kind), to_text(op_id(span)));
      auto out = std::back_inserter(buffer_);
      if (span.stage >= 0) fmt::format_to(out, R"(,"stage":{})", span.stage);
      if (span.micro_batch >= 0) fmt::format_to(out, R"(,"micro_batch":{})", span.micro_batch);
      if (span.tensor_s > 0) fmt::format_to(out, R"(,"tensor_parallel_us":{:.3f})", span.tensor_s * 1e6);
      const InnerCommunication inner = inner_of(trace_, span);
      const auto part = [&](const char* key, double time_s) {
        if (time_s > 0) fmt::format_to(out, R"(,"{}":{:.3f})", key, time_s * 1e6);
      };
      part("context_parallel_us", inner.context_s);
      part("expert_parallel_us", inner.expert_s);
      part("data_parallel_us", inner.data_s);
      part("host_copies_us", inner.copies_s);
      fmt::format_to(out, R"(,"span":{})", i);
      const std::span<const std::uint32_t> before = predecessors_of(predecessors, i);
      for (std::size_t k = 0; k < before.size(); ++k)
        fmt::format_to(out, "{}{}", k == 0 ? R"(,"after":[)" : ",", before[k]);
      if (!before.empty()) buffer_.push_back(']');
      buffer_.append(std::string_view("}}"));
    }
  }

  bool can_hold_arrow(std::size_t span) const {
    const SpanTime time = time_of(trace_.spans[span]);
    return time.end_ns > time.begin_ns;
  }

  void arrow_end(const char* phase, std::size_t span, std::size_t id, const char* extra) {
    const SpanTime time = time_of(trace_.spans[span]);
    event(R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"id":{},"name":"message","cat":"message"{}}})", phase,
          trace_.spans[span].rank, thread_of(span), micros(time.begin_ns), id, extra);
  }

  /// From the send to the receive where that takes time, else to what waits for it. An arrow binds to a slice that is
  /// open at its time, so a slice of no length cannot hold one.
  void flows() {
    std::vector<std::uint32_t> consumer(trace_.spans.size(), no_span);
    for (const Dependency& edge : trace_.dependencies) {
      const bool takes = is_receive(trace_.spans[edge.from].kind) && is_compute(trace_.spans[edge.to].kind);
      if (takes) consumer[edge.from] = std::min(consumer[edge.from], edge.to);
    }
    for (std::size_t id = 0; id < trace_.dependencies.size(); ++id) {
      const Dependency& edge = trace_.dependencies[id];
      if (!is_send(trace_.spans[edge.from].kind) || !is_receive(trace_.spans[edge.to].kind)) continue;
      const std::uint32_t target = can_hold_arrow(edge.to) ? edge.to : consumer[edge.to];
      if (target == no_span || !can_hold_arrow(target) || !can_hold_arrow(edge.from)) continue;
      arrow_end("s", edge.from, id, "");
      arrow_end("f", target, id, R"(,"bp":"e")");
    }
  }

  void counters() {
    for (const CounterSeries& series : trace_.counters) {
      const std::int32_t pid = series.rank < 0 ? after_ranks_ : series.rank;
      const std::string name = quoted(series.name), unit = quoted(series.unit);
      for (std::size_t i = 0; i < series.time_s.size(); ++i) {
        if (!std::isfinite(series.value[i])) continue;  // JSON has no such number
        event(R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{{}:{}}}}})", pid,
              micros(std::llround(series.time_s[i] * 1e9)), name, unit, series.value[i]);
      }
    }
  }

  static constexpr std::uint32_t no_span = 0xFFFFFFFFU;
  const Trace& trace_;
  const std::function<void(std::string_view)>& write_;
  std::vector<std::uint16_t> row_;
  fmt::memory_buffer buffer_;
  bool first_ = true;
  std::int32_t after_ranks_ = 0;
};

}  // namespace

void write_chrome_json(const Trace& trace, const std::function<void(std::string_view)>& write) {
  Exporter(trace, write).run();
}

void write_chrome_json(const Trace& trace, const std::string& path) {
  OutputStream file(path);
  write_chrome_json(trace, [&](std::string_view piece) { file.write(piece); });
  file.commit();
}

}  // namespace stagecraft
