#pragma once
// What happened when, predicted or measured: spans with their operation, dependencies, counters, provenance. Written by
// simulator and executor alike. Times are seconds from the start of the first step.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/op.hpp"

namespace stagecraft {

/// Exposed communication inside a compute operation beside that of the tensor group; seconds.
struct InnerCommunication {
  double context_s = 0, expert_s = 0, data_s = 0, copies_s = 0;
  friend bool operator==(const InnerCommunication&, const InnerCommunication&) = default;
};

struct Span {
  double begin_s = 0, end_s = 0;
  double tensor_s = 0;    // of [begin, end]: exposed tensor-parallel communication inside a compute operation; of a
                          // segment: all of it if it is a collective
  std::int32_t rank = 0;  // global rank; a folded trace holds representatives only
  std::int32_t micro_batch = -1;
  std::int32_t segment = -1;  // -1: the whole operation
  std::int32_t stage = -1;
  std::uint16_t label = 0;  // index into Trace::labels: segment name or ""
  std::uint8_t step = 0;
  OpKind kind = OpKind::forward;
  Lane lane = Lane::compute;
  std::uint16_t inner = 0;  // index into Trace::inner; 0: none
};

/// Span `to` could not begin before span `from` had ended.
struct Dependency {
  std::uint32_t from, to;  // indices of spans
};

struct CounterSeries {
  std::string name;                   // "memory/activations", "link/node0/nic0/up"
  std::string unit;                   // "B", "B/s"
  std::int32_t rank;                  // -1: not of a rank
  std::vector<double> time_s, value;  // the value holds from its time to the next
};

struct TraceRank {
  std::int32_t rank = 0;  // global rank
  std::int32_t pipeline_rank = 0;
  std::int32_t node = 0;
  std::int32_t represents = 1;  // ranks that it stands for, itself included
};

/// Where a trace comes from, beyond its producer: "calibration" = "a100-selene", "gpus" = "1536", ...
struct Provenance {
  std::string key, value;
};

/// Provenance of a trace with link counters: which communication they leave out, because nothing else can take its
/// links: keys of time classes, "tensor_communication,data_communication"; "none" if all that is sent is counted.
inline constexpr const char* uncounted_key = "links_not_counted";

struct Trace {
  std::string producer;  // "stagecraft simulate 0.1.0"
  std::string scenario;  // name
  std::string kind;      // "predicted" | "estimated" | "measured"
  std::int32_t steps = 1;
  double begin_s = 0, end_s = 0;   // of all steps
  std::vector<double> step_end_s;  // one per step
  std::vector<Provenance> provenance;
  std::vector<TraceRank> ranks;
  std::vector<std::string> labels;        // [0] is ""
  std::vector<InnerCommunication> inner;  // of whole operations, by Span::inner; [0], if there, is none
  std::vector<Span> spans;                // ordered by (rank, lane, begin)
  std::vector<Dependency> dependencies;
  std::vector<CounterSeries> counters;
};

/// What the operation's name tells: no stage or micro-batch of a kind that has none, whatever the span says.
OpId op_id(const Span& span);

/// The communication inside a span beside that of the tensor group, cut to the span's length.
InnerCommunication inner_of(const Trace& trace, const Span& span);
/// The index of an entry of such a table, added if it is new. Throws std::length_error beyond 65,535 entries.
std::uint16_t index_of(std::vector<InnerCommunication>& table, const InnerCommunication& inner);

/// "2F5" for a whole operation, the segment's name if it has one, else "2F5#14". Readers of a picture know the step.
std::string short_name(const Trace& trace, const Span& span);

/// Index ranges of Trace::spans with equal rank and lane, in order. Precondition: ordered by (rank, lane, begin).
struct SpanRange {
  std::size_t first = 0, last = 0;  // [first, last)
};
std::vector<SpanRange> lanes_of(const Trace& trace);

/// Predecessors of every span: those of span i are from[offsets[i]] .. from[offsets[i + 1]].
struct Predecessors {
  std::vector<std::uint32_t> offsets, from;
};
Predecessors predecessors_of(const Trace& trace);
std::span<const std::uint32_t> predecessors_of(const Predecessors& all, std::size_t span);

/// Brings spans into the order (rank, lane, begin, longest first, step, stage, micro-batch, kind, segment) and
/// renumbers the dependencies.
void sort_spans(Trace& trace);

}  // namespace stagecraft
