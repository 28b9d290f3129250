// Segments and link counters of a played trace.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/played_trace.hpp"
#include "trace/time_class.hpp"

namespace stagecraft {
namespace {

/// Label of every segment of a body, as an index into Trace::labels.
using SegmentLabels = std::vector<std::vector<std::uint16_t>>;

SegmentLabels label_segments(Trace& trace, const Body& body, std::map<std::string, std::uint16_t>& known) {
  SegmentLabels labels;
  for (const BodyPart& part : body.parts) {
    std::vector<std::uint16_t>& of_part = labels.emplace_back();
    for (const Segment& segment : part.segments) {
      const auto [entry, added] = known.emplace(segment.name, static_cast<std::uint16_t>(trace.labels.size()));
      if (added) trace.labels.emplace_back(segment.name);
      of_part.push_back(entry->second);
    }
  }
  return labels;
}

using BodyOfOp = std::map<std::tuple<OpKind, Stage, MicroBatch>, BodyId>;

BodyOfOp bodies_of(const Schedule& schedule) {
  BodyOfOp bodies;
  for (const auto& program : schedule.programs) {
    for (const Op& op : program) {
      if (op.body.valid() && op.stage.valid()) bodies.emplace(std::tuple(op.kind, op.stage, op.micro_batch), op.body);
    }
  }
  return bodies;
}

BodyId body_of(const BodyOfOp& bodies, const Span& span) {
  if (span.stage < 0) return {};
  const MicroBatch micro_batch = span.micro_batch < 0 ? MicroBatch{} : MicroBatch(span.micro_batch);
  const auto found = bodies.find(std::tuple(span.kind, Stage(span.stage), micro_batch));
  return found == bodies.end() ? BodyId{} : found->second;
}

void append_segments(Trace& trace, const Span& whole, const Body& body, const BodyTime& time,
                     const SegmentLabels& labels) {
  const double waited = whole.end_s - whole.begin_s - time.total.expected.value;
  const double collectives = time.collectives.value;
  const double slower = collectives > 0 ? 1 + waited / collectives : 1;
  Span span = whole;
  span.segment = 0;
  span.inner = 0;
  double at = whole.begin_s;
  for (std::size_t part = 0; part < body.parts.size(); ++part) {
    for (std::int32_t turn = 0; turn < body.parts[part].repeat; ++turn) {
      for (std::size_t i = 0; i < body.parts[part].segments.size(); ++i) {
        const SegmentTime& timed = time.segments[part][i];
        const double seconds = timed.time.value * (timed.is_collective ? slower : 1);
        span.begin_s = std::min(at, whole.end_s);
        at += seconds;
        span.end_s = std::min(at, whole.end_s);
        span.tensor_s = timed.is_collective ? span.end_s - span.begin_s : 0;
        span.label = labels[part][i];
        trace.spans.push_back(span);
        ++span.segment;
      }
    }
  }
}

/// Communication that takes time and that no flow stands for.
std::set<TimeClass> uncounted_classes(const Trace& trace, const Playbook& book) {
  std::set<TimeClass> classes;
  const auto add_if = [&](double seconds, TimeClass of) {
    if (seconds > 0) classes.insert(of);
  };
  for (std::size_t i = 0; i < book.work_of.size(); ++i) {
    const Work& work = book.works[book.work_of[i]];
    const Span& span = trace.spans[i];
    const auto first = book.moves.begin() + work.first_move;
    const bool flows = std::any_of(first, first + work.moves, [](const Move& move) { return move.path >= 0; });
    if (!flows) add_if(work.tensor_s, TimeClass::tensor_communication);
    if (!flows && !is_compute(span.kind)) add_if(work.idle_s, class_of(span.kind));
    const InnerCommunication inner = book.inner.empty() ? InnerCommunication{} : book.inner[work.inner];
    add_if(inner.context_s, TimeClass::context_communication);
    add_if(inner.expert_s, TimeClass::expert_communication);
    add_if(inner.data_s, TimeClass::data_communication);
    add_if(inner.copies_s, TimeClass::host_copies);
  }
  return classes;
}

std::string joined_keys(const std::set<TimeClass>& classes) {
  std::string text;
  for (const TimeClass one : classes) text += (text.empty() ? "" : ",") + std::string(key_of(one));
  return text.empty() ? "none" : text;
}

}  // namespace

void add_segment_spans(Trace& trace, const Plan& plan, const Schedule& schedule, const LocalCosts& costs) {
  std::map<std::string, std::uint16_t> known{{"", 0}};
  std::vector<SegmentLabels> labels;
  for (const Body& body : schedule.bodies.bodies) labels.push_back(label_segments(trace, body, known));
  const BodyOfOp bodies = bodies_of(schedule);
  const std::size_t operations = trace.spans.size();
  for (std::size_t i = 0; i < operations; ++i) {
    const Span whole = trace.spans[i];
    const BodyId id = body_of(bodies, whole);
    if (!id.valid()) continue;
    const Coordinates at = coordinates_of(plan.degrees, Rank(whole.rank));
    const std::size_t local = costs.at(PipelineRank(at.pipeline), at.data * plan.degrees.context + at.context);
    append_segments(trace, whole, schedule.bodies.bodies[id.index()], costs.bodies[local][id.index()],
                    labels[id.index()]);
  }
}

void add_link_counters(Trace& trace, const Playbook& book, const std::vector<std::string>& names,
                       const std::vector<FlowStretch>& flows) {
  trace.provenance.push_back({uncounted_key, joined_keys(uncounted_classes(trace, book))});
  struct Change {
    double time, rate;
  };
  std::vector<std::vector<Change>> changes(book.links.size());
  for (const FlowStretch& flow : flows) {
    const double rate = flow.units / (flow.end_s - flow.begin_s);
    for (const Crossing& crossing : book.paths[static_cast<std::size_t>(flow.path)].crossings) {
      const auto link = static_cast<std::size_t>(crossing.link);
      const double on_link = rate * crossing.crossings * book.links[link].bytes_per_unit;
      changes[link].push_back({flow.begin_s, on_link});
      changes[link].push_back({flow.end_s, -on_link});
    }
  }
  for (std::size_t link = 0; link < changes.size(); ++link) {
    std::vector<Change>& of_link = changes[link];
    std::stable_sort(of_link.begin(), of_link.end(), [](const Change& a, const Change& b) { return a.time < b.time; });
    CounterSeries series{"link/" + names[link], "B/s", -1, {0.0}, {0.0}};
    double rate = 0;
    for (std::size_t i = 0; i < of_link.size(); ++i) {
      rate += of_link[i].rate;
      if (i + 1 < of_link.size() && of_link[i + 1].time == of_link[i].time) continue;
      const double shown = rate < 1 ? 0 : rate;  // what is left of sums of floating-point numbers
      if (series.time_s.back() == of_link[i].time) {
        series.value.back() = shown;
      } else {
        series.time_s.push_back(of_link[i].time);
        series.value.push_back(shown);
      }
    }
    trace.counters.push_back(std::move(series));
  }
}

}  // namespace stagecraft
