#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "trace/crc32.hpp"
#include "trace/native_chunk.hpp"
#include "trace/native_format.hpp"

namespace stagecraft {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class Reader {
 public:
  Reader(const std::string& path, const TraceSink& sink) : path_(path), sink_(sink) {
    // Looked at before it is opened: a pipe would wait for a writer.
    const auto refuse = [&](const std::string& got) {
      throw InputError(InputProblem{path.empty() ? "\"\"" : path, 0, 0, "", got, "a trace file", ""});
    };
    std::error_code problem;
    const auto status = std::filesystem::status(path, problem);
    if (problem || !std::filesystem::exists(status)) refuse(problem ? problem.message() : "No such file or directory");
    if (std::filesystem::is_directory(status)) refuse("a directory");
    if (!std::filesystem::is_regular_file(status)) refuse("a special file");
    size_ = std::filesystem::file_size(path, problem);
    if (!problem) file_.reset(std::fopen(path.c_str(), "rb"));
    if (!file_) refuse(problem ? problem.message() : std::strerror(errno));
  }

  void read() {
    const std::string header = take(trace_magic.size() + 8, "the header of a trace file");
    FieldReader fields(std::string_view(header).substr(trace_magic.size()));
    if (!header.starts_with(trace_magic)) fail("another kind of file", "a trace file, which begins with STGTRACE");
    const auto version = fields.get<std::uint32_t>();
    if (version != trace_format_version) {
      fail(fmt::format("format version {}", version), fmt::format("version {}", trace_format_version));
    }
    while (!ended_) chunk();
    if (offset_ != size_) fail(fmt::format("{} bytes after the end chunk", size_ - offset_), "the end of the file");
  }

 private:
  [[noreturn]] void fail(const std::string& got, const std::string& expected) const {
    throw InputError(InputProblem{path_, 0, 0, "", fmt::format("{} (byte {})", got, chunk_offset_), expected, ""});
  }

  std::string take(std::size_t count, const char* what) {
    if (count > size_ - offset_) {
      fail(fmt::format("the end of the file at byte {}", size_), fmt::format("{} of {} bytes", what, count));
    }
    std::string bytes(count, '\0');
    if (std::fread(bytes.data(), 1, count, file_.get()) != count) fail("a read error", what);
    offset_ += count;
    return bytes;
  }

  void chunk() {
    chunk_offset_ = offset_;
    const std::string header = take(chunk_header_bytes, "the header of a chunk");
    FieldReader fields(header);
    const auto kind = fields.get<std::uint32_t>();
    const auto checksum = fields.get<std::uint32_t>();
    const auto length = fields.get<std::uint64_t>();
    if (length > largest_payload) {
      fail(fmt::format("a chunk of {} bytes", length), fmt::format("at most {} bytes in a chunk", largest_payload));
    }
    const std::string payload = take(static_cast<std::size_t>(length), "the payload of a chunk");
    std::string front;
    put(front, kind);
    put(front, length);
    if (crc32(payload, crc32(front)) != checksum) fail("a chunk with a wrong checksum", "an undamaged file");
    FieldReader reader(payload);
    decode(kind, reader);
    if (!reader.done() && !may_be_skipped(kind)) fail("a chunk of another length than its content", "a whole chunk");
  }

  void decode(std::uint32_t kind, FieldReader& fields) {
    if (kind == chunk_inner && have_head_ && !head_handed_on_) return decode_inner(fields);
    if (may_be_skipped(kind)) return;
    if (kind != chunk_head && !have_head_) fail("a chunk before the HEAD chunk", "HEAD first");
    const bool late = head_handed_on_ && (kind == chunk_head || kind == chunk_ranks || kind == chunk_labels);
    if (late || (kind == chunk_head && have_head_))
      fail("a HEAD, RANK or LABL chunk late or twice", "one, at the front");
    if (kind != chunk_head && kind != chunk_ranks && kind != chunk_labels) hand_on_head();
    switch (kind) {
      case chunk_head:
        return decode_head(fields);
      case chunk_ranks:
        return decode_ranks(fields);
      case chunk_labels:
        return decode_labels(fields);
      case chunk_spans:
        return decode_spans(fields);
      case chunk_dependencies:
        return decode_dependencies(fields);
      case chunk_counter:
        return decode_counter(fields);
      case chunk_end:
        return decode_end(fields);
      default:
        fail(fmt::format("a chunk of unknown kind 0x{:08x}", kind), "a kind of this format version");
    }
  }

  void decode_head(FieldReader& fields) {
    have_head_ = true;
    head_.producer = fields.get_text();
    head_.scenario = fields.get_text();
    head_.kind = fields.get_text();
    head_.steps = fields.get<std::int32_t>();
    head_.begin_s = fields.get<double>();
    head_.end_s = fields.get<double>();
    const auto steps = fields.get<std::uint32_t>();
    for (std::uint32_t i = 0; i < steps && fields.ok(); ++i) head_.step_end_s.push_back(fields.get<double>());
    const auto entries = fields.get<std::uint32_t>();
    for (std::uint32_t i = 0; i < entries && fields.ok(); ++i) {
      std::string key = fields.get_text();
      head_.provenance.push_back({std::move(key), fields.get_text()});
    }
    const bool counted = fields.ok() && head_.steps >= 1 && head_.steps <= 256 &&
                         head_.step_end_s.size() == static_cast<std::size_t>(head_.steps);
    if (!counted) fail(fmt::format("{} steps and {} ends of steps", head_.steps, steps), "1 to 256, one end for each");
    double before = head_.begin_s;
    for (const double end : head_.step_end_s) {
      if (!(end >= before)) fail("ends of steps that go back in time", "ascending times");
      before = end;
    }
    if (!std::isfinite(head_.begin_s) || !std::isfinite(head_.end_s) || head_.end_s < before) {
      fail("an end before the last step's", "a finite end at or after it");
    }
  }

  void decode_ranks(FieldReader& fields) {
    while (fields.ok() && fields.left() > 0) {
      TraceRank rank;
      rank.rank = fields.get<std::int32_t>();
      rank.pipeline_rank = fields.get<std::int32_t>();
      rank.node = fields.get<std::int32_t>();
      rank.represents = fields.get<std::int32_t>();
      const bool sane = rank.rank >= 0 && rank.pipeline_rank >= 0 && rank.node >= 0 && rank.represents >= 1;
      if (!sane || !known_ranks_.insert(rank.rank).second)
        fail("a rank out of range or listed twice", "ranks once each");
      head_.ranks.push_back(rank);
    }
  }

  void decode_labels(FieldReader& fields) {
    const auto count = fields.get<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && fields.ok(); ++i) head_.labels.push_back(fields.get_text());
    if (head_.labels.size() > 65536) fail("more than 65536 labels", "at most 65536");
  }

  void decode_inner(FieldReader& fields) {
    while (fields.ok() && fields.left() > 0) {
      InnerCommunication inner;
      for (double* part : {&inner.context_s, &inner.expert_s, &inner.data_s, &inner.copies_s}) {
        *part = fields.get<double>();
        if (!(*part >= 0) || !std::isfinite(*part)) fail("a time that is negative or not finite", "seconds");
      }
      head_.inner.push_back(inner);
    }
    if (!fields.done() || head_.inner.size() > 65536)
      fail("a chunk of another length than its content", "a whole chunk");
  }

  void hand_on_head() {
    if (head_handed_on_) return;
    head_handed_on_ = true;
    if (sink_.head) sink_.head(head_);
  }

  void decode_spans(FieldReader& fields) {
    spans_.clear();
    while (fields.ok() && fields.left() > 0) {
      Span span;
      span.begin_s = fields.get<double>();
      span.end_s = fields.get<double>();
      span.tensor_s = fields.get<double>();
      span.rank = fields.get<std::int32_t>();
      span.micro_batch = fields.get<std::int32_t>();
      span.segment = fields.get<std::int32_t>();
      span.stage = fields.get<std::int32_t>();
      span.label = fields.get<std::uint16_t>();
      span.step = fields.get<std::uint8_t>();
      const auto kind = fields.get<std::uint8_t>();
      const auto lane = fields.get<std::uint8_t>();
      fields.get<std::uint8_t>();
      span.inner = fields.get<std::uint16_t>();
      span.kind = static_cast<OpKind>(kind);
      span.lane = static_cast<Lane>(lane);
      check(span, kind, lane);
      spans_.push_back(span);
    }
    span_count_ += spans_.size();
    if (fields.ok() && sink_.spans) sink_.spans(spans_);
  }

  // Spans come rank by rank, so the answer of the last lookup is nearly always the one.
  bool is_known(std::int32_t rank) {
    if (rank != last_known_rank_ && known_ranks_.contains(rank)) last_known_rank_ = rank;
    return rank == last_known_rank_;
  }

  void check(const Span& span, std::uint8_t kind, std::uint8_t lane) {
    const bool times = std::isfinite(span.begin_s) && std::isfinite(span.end_s) && span.end_s >= span.begin_s &&
                       span.tensor_s >= 0 && std::isfinite(span.tensor_s);
    if (!times) fail("a span whose times are not finite or go backwards", "begin <= end");
    const bool named = kind < op_kind_count && lane <= static_cast<std::uint8_t>(Lane::copy);
    if (!named) fail(fmt::format("operation kind {} on lane {}", kind, lane), "a kind and a lane of this version");
    const bool indices = span.micro_batch >= -1 && span.segment >= -1 && span.stage >= -1 && span.step < head_.steps &&
                         (span.label == 0 || span.label < head_.labels.size()) &&
                         (span.inner == 0 || span.inner < head_.inner.size()) && is_known(span.rank);
    if (!indices) fail("a span with a rank, step, label or index out of range", "those of the RANK and LABL chunks");
  }

  void decode_dependencies(FieldReader& fields) {
    dependencies_.clear();
    while (fields.ok() && fields.left() > 0) {
      const auto from = fields.get<std::uint32_t>();
      dependencies_.push_back({from, fields.get<std::uint32_t>()});
      largest_index_ = std::max({largest_index_, dependencies_.back().from, dependencies_.back().to});
    }
    dependency_count_ += dependencies_.size();
    if (fields.ok() && sink_.dependencies) sink_.dependencies(dependencies_);
  }

  void decode_counter(FieldReader& fields) {
    CounterSeries series{fields.get_text(), fields.get_text(), fields.get<std::int32_t>(), {}, {}};
    const auto points = fields.get<std::uint32_t>();
    if (fields.left() != std::uint64_t{points} * 16)
      fail("a counter of another length than it says", "a whole counter");
    for (std::uint32_t i = 0; i < points; ++i) series.time_s.push_back(fields.get<double>());
    for (std::uint32_t i = 0; i < points; ++i) series.value.push_back(fields.get<double>());
    for (const double time : series.time_s) {
      if (!std::isfinite(time)) fail("a counter with a time that is not finite", "finite times");
    }
    if (series.rank != -1 && !known_ranks_.contains(series.rank)) fail("a counter of an unknown rank", "-1 or a rank");
    ++counter_count_;
    if (sink_.counter) sink_.counter(series);
  }

  void decode_end(FieldReader& fields) {
    const auto spans = fields.get<std::uint64_t>();
    const auto dependencies = fields.get<std::uint64_t>();
    const auto counters = fields.get<std::uint64_t>();
    if (spans != span_count_ || dependencies != dependency_count_ || counters != counter_count_) {
      fail(fmt::format("{} spans, {} dependencies, {} counter chunks", span_count_, dependency_count_, counter_count_),
           fmt::format("{}, {} and {} as the end chunk says", spans, dependencies, counters));
    }
    if (dependency_count_ > 0 && largest_index_ >= span_count_) {
      fail(fmt::format("a dependency on span {}", largest_index_), fmt::format("one of the {} spans", span_count_));
    }
    ended_ = true;
  }

  std::string path_;
  const TraceSink& sink_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t size_ = 0, offset_ = 0, chunk_offset_ = 0;
  bool have_head_ = false, head_handed_on_ = false, ended_ = false;
  Trace head_;
  std::set<std::int32_t> known_ranks_;
  std::int32_t last_known_rank_ = -1;
  std::vector<Span> spans_;
  std::vector<Dependency> dependencies_;
  std::uint32_t largest_index_ = 0;
  std::uint64_t span_count_ = 0, dependency_count_ = 0, counter_count_ = 0;
};

}  // namespace

void read_trace(const std::string& path, const TraceSink& sink) {
  Reader(path, sink).read();
}

Trace read_trace(const std::string& path) {
  Trace trace;
  TraceSink sink;
  sink.head = [&](const Trace& head) { trace = head; };
  sink.spans = [&](std::span<const Span> piece) { trace.spans.insert(trace.spans.end(), piece.begin(), piece.end()); };
  sink.dependencies = [&](std::span<const Dependency> piece) {
    trace.dependencies.insert(trace.dependencies.end(), piece.begin(), piece.end());
  };
  std::map<std::pair<std::string, std::int32_t>, std::size_t> series_of;
  sink.counter = [&](const CounterSeries& piece) {
    const auto [known, is_new] = series_of.try_emplace({piece.name, piece.rank}, trace.counters.size());
    if (is_new) return trace.counters.push_back(piece);
    CounterSeries& series = trace.counters[known->second];
    series.time_s.insert(series.time_s.end(), piece.time_s.begin(), piece.time_s.end());
    series.value.insert(series.value.end(), piece.value.begin(), piece.value.end());
  };
  read_trace(path, sink);
  return trace;
}

}  // namespace stagecraft
