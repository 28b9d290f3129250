#include <algorithm>
#include <cassert>

#include "trace/crc32.hpp"
#include "trace/native_chunk.hpp"
#include "trace/native_format.hpp"
#include "trace/output_stream.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t spans_per_chunk = 65536, dependencies_per_chunk = 262144, points_per_chunk = 65536;

void put_span(std::string& out, const Span& span) {
  put(out, span.begin_s);
  put(out, span.end_s);
  put(out, span.tensor_s);
  put(out, span.rank);
  put(out, span.micro_batch);
  put(out, span.segment);
  put(out, span.stage);
  put(out, span.label);
  put(out, span.step);
  put(out, static_cast<std::uint8_t>(span.kind));
  put(out, static_cast<std::uint8_t>(span.lane));
  out.append(1, '\0');
  put(out, span.inner);
}

}  // namespace

struct TraceWriter::State {
  explicit State(const std::string& path) : file(path) {}

  void chunk(std::uint32_t kind) {
    std::string front;
    put(front, kind);
    put(front, std::uint64_t{payload.size()});
    const std::uint32_t checksum = crc32(payload, crc32(front));
    std::string header;
    put(header, kind);
    put(header, checksum);
    put(header, std::uint64_t{payload.size()});
    file.write(header);
    file.write(payload);
    payload.clear();
  }

  OutputStream file;
  std::string payload;
  std::uint64_t spans = 0, dependencies = 0, counters = 0;
};

TraceWriter::TraceWriter(const std::string& path) : state_(std::make_unique<State>(path)) {
  std::string header(trace_magic);
  put(header, trace_format_version);
  put(header, std::uint32_t{0});
  state_->file.write(header);
}

TraceWriter::~TraceWriter() = default;

void TraceWriter::head(const Trace& trace) {
  std::string& out = state_->payload;
  put_text(out, trace.producer);
  put_text(out, trace.scenario);
  put_text(out, trace.kind);
  put(out, trace.steps);
  put(out, trace.begin_s);
  put(out, trace.end_s);
  put(out, static_cast<std::uint32_t>(trace.step_end_s.size()));
  for (const double end : trace.step_end_s) put(out, end);
  put(out, static_cast<std::uint32_t>(trace.provenance.size()));
  for (const Provenance& entry : trace.provenance) {
    put_text(out, entry.key);
    put_text(out, entry.value);
  }
  state_->chunk(chunk_head);
  for (std::size_t first = 0; first < trace.ranks.size(); first += points_per_chunk) {
    const std::size_t last = std::min(trace.ranks.size(), first + points_per_chunk);
    for (std::size_t i = first; i < last; ++i) {
      put(out, trace.ranks[i].rank);
      put(out, trace.ranks[i].pipeline_rank);
      put(out, trace.ranks[i].node);
      put(out, trace.ranks[i].represents);
    }
    state_->chunk(chunk_ranks);
  }
  put(out, static_cast<std::uint32_t>(trace.labels.size()));
  for (const std::string& label : trace.labels) put_text(out, label);
  state_->chunk(chunk_labels);
  if (trace.inner.empty()) return;
  for (const InnerCommunication& inner : trace.inner) {
    for (const double part : {inner.context_s, inner.expert_s, inner.data_s, inner.copies_s}) put(out, part);
  }
  state_->chunk(chunk_inner);
}

void TraceWriter::spans(std::span<const Span> spans) {
  state_->spans += spans.size();
  for (; !spans.empty(); spans = spans.subspan(std::min(spans.size(), spans_per_chunk))) {
    for (const Span& span : spans.first(std::min(spans.size(), spans_per_chunk))) put_span(state_->payload, span);
    state_->chunk(chunk_spans);
  }
}

void TraceWriter::dependencies(std::span<const Dependency> dependencies) {
  state_->dependencies += dependencies.size();
  for (; !dependencies.empty();
       dependencies = dependencies.subspan(std::min(dependencies.size(), dependencies_per_chunk))) {
    for (const Dependency& edge : dependencies.first(std::min(dependencies.size(), dependencies_per_chunk))) {
      put(state_->payload, edge.from);
      put(state_->payload, edge.to);
    }
    state_->chunk(chunk_dependencies);
  }
}

void TraceWriter::counter(const CounterSeries& series) {
  assert(series.time_s.size() == series.value.size());
  std::size_t first = 0;
  do {
    const std::size_t last = std::min(series.time_s.size(), first + points_per_chunk);
    std::string& out = state_->payload;
    put_text(out, series.name);
    put_text(out, series.unit);
    put(out, series.rank);
    put(out, static_cast<std::uint32_t>(last - first));
    for (std::size_t i = first; i < last; ++i) put(out, series.time_s[i]);
    for (std::size_t i = first; i < last; ++i) put(out, series.value[i]);
    state_->chunk(chunk_counter);
    ++state_->counters;
    first = last;
  } while (first < series.time_s.size());
}

void TraceWriter::finish() {
  put(state_->payload, state_->spans);
  put(state_->payload, state_->dependencies);
  put(state_->payload, state_->counters);
  state_->chunk(chunk_end);
  state_->file.commit();
}

void write_trace(const Trace& trace, const std::string& path) {
  TraceWriter writer(path);
  writer.head(trace);
  writer.spans(trace.spans);
  writer.dependencies(trace.dependencies);
  for (const CounterSeries& series : trace.counters) writer.counter(series);
  writer.finish();
}

}  // namespace stagecraft
