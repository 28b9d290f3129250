#include "gui/models/trace_rows.hpp"

#include "gui/models/trace_counters.hpp"
#include "gui/models/trace_slack.hpp"
#include "trace/critical_path.hpp"

namespace stagecraft::gui {
namespace {

void index_spans(LoadedTrace& loaded) {
  loaded.row_of_span.assign(loaded.trace.spans.size(), no_span);
  loaded.slice_of_span.assign(loaded.trace.spans.size(), no_span);
  for (std::uint32_t lane = 0; lane < loaded.lanes.size(); ++lane) {
    const SliceRow& slices = loaded.lanes[lane].slices;
    for (std::uint32_t i = 0; i < slices.size(); ++i) {
      const std::uint32_t span = slices.span(i);
      if (span == no_span) continue;
      loaded.row_of_span[span] = lane;
      loaded.slice_of_span[span] = i;
    }
  }
}

void find_critical_path(LoadedTrace& loaded) {
  const Trace& trace = loaded.trace;
  loaded.is_critical.assign(trace.spans.size(), false);
  const std::vector<std::uint32_t> last = last_to_end_of_steps(trace);
  if (last.empty() || last.back() == no_span) return;
  const std::size_t steps = trace.step_end_s.size();
  const Interval step{steps > 1 ? trace.step_end_s[steps - 2] : trace.begin_s, trace.step_end_s.back()};
  CriticalPath path = walk_critical_path(trace, loaded.before, step, last.back());
  loaded.critical = std::move(path.spans);
  loaded.critical_s = path.seconds;
  for (const std::uint32_t span : loaded.critical) loaded.is_critical[span] = true;
}

}  // namespace

std::unique_ptr<const LoadedTrace> make_loaded_trace(Trace trace, std::string name, double memory_limit_bytes,
                                                     const std::atomic<bool>* cancel) {
  const auto cancelled = [cancel] { return cancel != nullptr && cancel->load(std::memory_order_relaxed); };
  auto loaded = std::make_unique<LoadedTrace>();
  loaded->name = std::move(name);
  loaded->trace = std::move(trace);
  loaded->memory_limit_bytes = memory_limit_bytes;
  loaded->before = predecessors_of(loaded->trace);
  loaded->after = successors_of(loaded->trace);
  if (cancelled()) return nullptr;
  loaded->lanes = lane_rows(loaded->trace, loaded->before);
  index_spans(*loaded);
  if (cancelled()) return nullptr;
  find_critical_path(*loaded);
  loaded->slack_s = slack_of(loaded->trace, loaded->before, loaded->after);
  if (cancelled()) return nullptr;
  loaded->memory = memory_curves(loaded->trace);
  loaded->links = link_curves(loaded->trace);
  return loaded;
}

}  // namespace stagecraft::gui
