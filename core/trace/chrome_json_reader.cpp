#include "trace/chrome_json_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/input_error.hpp"
#include "trace/chrome_events.hpp"
#include "trace/kineto.hpp"

namespace stagecraft {
namespace {

constexpr int rows_per_lane = 1024;  // as write_chrome_json numbers threads
constexpr std::int64_t largest_rank = 100'000'000;

[[noreturn]] void refuse(const std::string& path, std::size_t event, const std::string& got,
                         const std::string& expected) {
  throw InputError(InputProblem{path, 0, 0, fmt::format("/traceEvents/{}", event), got, expected, ""});
}

/// The number after `word` in "pipeline rank 3, node 1, stands for 2 ranks".
std::int32_t number_after(const std::string& text, std::string_view word, std::int32_t otherwise) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return otherwise;
  std::int32_t value = otherwise;
  const char* const begin = text.data() + at + word.size();
  std::from_chars(begin, text.data() + text.size(), value);
  return value;
}

/// By its full name, or by one like "2F5" where the file is not stagecraft's.
std::optional<OpId> identity_of(const ChromeEvent& event) {
  if (!event.op.empty()) return parse_op_id(event.op);
  const std::optional<OpName> name = parse_op_name(event.name);
  if (!name) return std::nullopt;
  return OpId{0, name->kind, name->stage, name->micro_batch, -1};
}

class Builder {
 public:
  explicit Builder(const std::string& path) : path_(path) { trace_.labels = {""}; }

  void add(const ChromeEvent& event) {
    const std::size_t index = events_++;
    if (kineto_.add(event)) return;
    if (event.phase == 'X') return slice(event, index);
    if (event.phase == 'C' && event.has_value) return counter(event, index);
    if (event.phase == 's' || event.phase == 'f') return flow(event);
    if (event.phase == 'M' && event.name == "process_labels") {
      TraceRank rank;
      rank.rank = rank_of(event, index);
      rank.pipeline_rank = number_after(event.text, "pipeline rank ", rank.rank);
      rank.node = number_after(event.text, "node ", 0);
      rank.represents = number_after(event.text, "stands for ", 1);
      const bool sane = rank.pipeline_rank >= 0 && rank.node >= 0 && rank.represents >= 1;
      if (sane && event.text.find("pipeline rank ") != std::string::npos) ranks_[rank.rank] = rank;
    }
  }

  Trace finish(const ChromeFile& file) {
    if (trace_.spans.empty()) {
      return kineto_.finish(path_, file);
    }
    trace_.producer = file.producer;
    trace_.scenario = file.scenario;
    trace_.kind = file.kind.empty() ? "measured" : file.kind;
    for (const auto& [key, value] : file.other) trace_.provenance.push_back({key, value});
    for (const Span& span : trace_.spans) ranks_.try_emplace(span.rank, TraceRank{span.rank, span.rank, 0, 1});
    for (const auto& [rank, entry] : ranks_) trace_.ranks.push_back(entry);
    for (auto& [key, series] : counters_) {
      if (series.rank >= 0 && !ranks_.contains(series.rank)) series.rank = -1;
      trace_.counters.push_back(std::move(series));
    }
    end_steps();
    after_.empty() ? arrows() : numbered_dependencies();
    sort_spans(trace_);
    return std::move(trace_);
  }

 private:
  std::int32_t rank_of(const ChromeEvent& event, std::size_t index) const {
    if (event.pid < 0 || event.pid > largest_rank) {
      refuse(path_, index, fmt::format("pid {}", event.pid), "a rank from 0 on");
    }
    return static_cast<std::int32_t>(event.pid);
  }

  void slice(const ChromeEvent& event, std::size_t index) {
    const std::optional<OpId> id = identity_of(event);
    if (!id) return;
    if (!std::isfinite(event.ts_us) || !(event.dur_us >= 0) || !std::isfinite(event.dur_us)) {
      refuse(path_, index, fmt::format("ts {}, dur {}", event.ts_us, event.dur_us), "finite times and dur >= 0");
    }
    if (id->step < 0 || id->step > 255) refuse(path_, index, fmt::format("step {}", id->step), "0 to 255");
    Span span;
    span.begin_s = event.ts_us * 1e-6;
    span.end_s = (event.ts_us + event.dur_us) * 1e-6;
    span.tensor_s = std::clamp(event.tensor_us, 0.0, event.dur_us) * 1e-6;
    const auto part = [&](double us) { return std::clamp(us, 0.0, event.dur_us) * 1e-6; };
    const InnerCommunication inner{part(event.context_us), part(event.expert_us), part(event.data_us),
                                   part(event.copies_us)};
    if (inner != InnerCommunication{}) span.inner = inner_index(inner, index);
    span.rank = rank_of(event, index);
    span.step = static_cast<std::uint8_t>(id->step);
    span.kind = id->kind;
    span.stage = id->stage.value;
    span.micro_batch = id->micro_batch.value;
    span.segment = id->segment;
    const std::int64_t lane = (event.tid - 1) / rows_per_lane;
    const bool known = event.tid >= 1 && lane <= static_cast<std::int64_t>(Lane::copy);
    span.lane = known ? static_cast<Lane>(lane) : usual_lane(id->kind);
    if (id->segment >= 0) span.label = label_of(event.name, index);
    const auto here = static_cast<std::uint32_t>(trace_.spans.size());
    at_.push_back({moment_of(event), here});
    const auto is_number = [](std::int64_t value) { return value >= 0 && value <= 0xFFFFFFFF; };
    if (is_number(event.span)) number_.push_back({static_cast<std::uint32_t>(event.span), here});
    for (const std::int64_t before : event.after) {
      if (is_number(before)) after_.push_back({static_cast<std::uint32_t>(before), here});
    }
    if (trace_.spans.size() >= std::numeric_limits<std::uint32_t>::max() - 1) {
      refuse(path_, index, "more than 2^32 slices", "a smaller trace");
    }
    trace_.spans.push_back(span);
  }

  std::uint16_t inner_index(const InnerCommunication& inner, std::size_t index) {
    const std::array<double, 4> key{inner.context_s, inner.expert_s, inner.data_s, inner.copies_s};
    if (trace_.inner.empty()) trace_.inner.emplace_back();
    const auto [entry, added] = inner_.try_emplace(key, static_cast<std::uint16_t>(trace_.inner.size()));
    if (!added) return entry->second;
    if (trace_.inner.size() > 65535) refuse(path_, index, "more than 65535 mixtures of communication", "fewer");
    trace_.inner.push_back(inner);
    return entry->second;
  }

  std::uint16_t label_of(const std::string& name, std::size_t index) {
    const auto [entry, added] = labels_.try_emplace(name, static_cast<std::uint16_t>(trace_.labels.size()));
    if (!added) return entry->second;
    if (trace_.labels.size() > 65535) refuse(path_, index, "more than 65535 names of segments", "fewer");
    trace_.labels.push_back(name);
    return entry->second;
  }

  void counter(const ChromeEvent& event, std::size_t index) {
    CounterSeries& series = counters_[{event.pid, event.name}];
    if (series.name.empty()) {
      series.name = event.name;
      series.unit = event.unit;
      series.rank = rank_of(event, index);
    }
    if (!std::isfinite(event.ts_us) || !std::isfinite(event.value)) {
      refuse(path_, index, "a counter that is not finite", "finite numbers");
    }
    series.time_s.push_back(event.ts_us * 1e-6);
    series.value.push_back(event.value);
  }

  struct Moment {
    std::int64_t pid = 0, tid = 0, ns = 0;
    friend auto operator<=>(const Moment&, const Moment&) = default;
  };
  struct Found {
    Moment moment;
    std::uint32_t span = 0;
  };
  struct FlowEnd {
    std::int64_t id = 0;
    Moment moment;
  };

  /// A slice's own number; of a dependency the number of the first and the second as a span.
  struct Numbered {
    std::uint32_t number = 0, span = 0;
  };

  static Moment moment_of(const ChromeEvent& event) {
    return {event.pid, event.tid, std::llround(std::clamp(event.ts_us * 1e3, -9e15, 9e15))};
  }

  void flow(const ChromeEvent& event) {
    (event.phase == 's' ? flow_from_ : flow_to_).push_back({event.id, moment_of(event)});
  }

  /// The outermost slice that begins at a moment; slices that enclose others come first.
  std::optional<std::uint32_t> span_at(const Moment& moment) const {
    const auto found =
        std::lower_bound(at_.begin(), at_.end(), moment, [](const Found& a, const Moment& b) { return a.moment < b; });
    if (found == at_.end() || found->moment != moment) return std::nullopt;
    return found->span;
  }

  void arrows() {
    if (flow_from_.empty()) return;
    std::stable_sort(at_.begin(), at_.end(), [](const Found& a, const Found& b) { return a.moment < b.moment; });
    std::stable_sort(flow_to_.begin(), flow_to_.end(), [](const FlowEnd& a, const FlowEnd& b) { return a.id < b.id; });
    for (const FlowEnd& from : flow_from_) {
      const auto to = std::lower_bound(flow_to_.begin(), flow_to_.end(), from.id,
                                       [](const FlowEnd& a, std::int64_t id) { return a.id < id; });
      if (to == flow_to_.end() || to->id != from.id) continue;
      const auto first = span_at(from.moment), second = span_at(to->moment);
      if (first && second) trace_.dependencies.push_back({*first, *second});
    }
  }

  /// Of slices that a program left out, nothing is known.
  void numbered_dependencies() {
    const auto by_number = [](const Numbered& a, const Numbered& b) { return a.number < b.number; };
    std::stable_sort(number_.begin(), number_.end(), by_number);
    for (const Numbered& edge : after_) {
      const auto before = std::lower_bound(number_.begin(), number_.end(), edge, by_number);
      if (before == number_.end() || before->number != edge.number || before->span == edge.span) continue;
      trace_.dependencies.push_back({before->span, edge.span});
    }
  }

  void end_steps() {
    std::int32_t steps = 1;
    double first = std::numeric_limits<double>::infinity();
    for (const Span& span : trace_.spans) {
      steps = std::max(steps, span.step + 1);
      first = std::min(first, span.begin_s);
    }
    trace_.steps = steps;
    trace_.begin_s = std::min(first, 0.0);
    trace_.step_end_s.assign(static_cast<std::size_t>(steps), trace_.begin_s);
    for (const Span& span : trace_.spans) {
      double& end = trace_.step_end_s[span.step];
      end = std::max(end, span.end_s);
    }
    for (std::size_t i = 1; i < trace_.step_end_s.size(); ++i) {
      trace_.step_end_s[i] = std::max(trace_.step_end_s[i], trace_.step_end_s[i - 1]);
    }
    trace_.end_s = trace_.step_end_s.back();
  }

  const std::string& path_;
  Trace trace_;
  KinetoBuilder kineto_;
  std::size_t events_ = 0;
  std::map<std::int32_t, TraceRank> ranks_;
  std::map<std::string, std::uint16_t> labels_;
  std::map<std::array<double, 4>, std::uint16_t> inner_;  // index into Trace::inner
  std::map<std::pair<std::int64_t, std::string>, CounterSeries> counters_;
  std::vector<Found> at_;
  std::vector<FlowEnd> flow_from_, flow_to_;
  std::vector<Numbered> number_, after_;
};

}  // namespace

Trace read_chrome_json(const std::string& path) {
  Builder builder(path);
  const ChromeFile file = read_chrome_events(path, [&](const ChromeEvent& event) { builder.add(event); });
  return builder.finish(file);
}

}  // namespace stagecraft
