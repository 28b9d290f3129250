// Where a timeline widget looks, and what is selected in it.
#include <QScrollBar>
#include <algorithm>

#include "gui/timeline/describe.hpp"
#include "gui/timeline/paint_cache.hpp"
#include "gui/timeline/timeline_state.hpp"
#include "gui/timeline/view_geometry.hpp"

namespace stagecraft::gui {
namespace {

constexpr int bar_steps = 1'000'000;  // of the horizontal scroll bar over the whole trace
constexpr qint64 one_gesture_ms = 700;

}  // namespace

TimeLimits TimelineWidget::limits() const {
  TimeLimits limits{0, 1};
  for (std::size_t i = 0; i < view_.sources.size(); ++i) {
    const Source& source = view_.sources[i];
    const double begin = source.loaded->trace.begin_s + source.shift_s;
    const double end = std::max(source.loaded->trace.end_s + source.shift_s, begin + 1e-9);
    limits = i == 0 ? TimeLimits{begin, end} : TimeLimits{std::min(limits.begin_s, begin), std::max(limits.end_s, end)};
  }
  return limits;
}

QRectF TimelineWidget::rows_rect() const {
  return layout_of(view_, viewport()->size()).rows;
}

void TimelineWidget::changed() {
  view_.version = ++state_->versions;
  viewport()->update();
}

void TimelineWidget::set_traces(std::vector<Source> sources) {
  view_.sources = std::move(sources);
  view_.selected.reset();
  view_.hovered.reset();
  view_.area.reset();
  view_.marked.clear();
  view_.highlighted.clear();
  view_.scroll_y = 0;
  std::vector<const LoadedTrace*> traces;
  for (const Source& source : view_.sources) traces.push_back(source.loaded);
  state_->options.folded = folded_at_first(traces);
  state_->options.filter.clear();
  rebuild_rows();
  view_.axis = clamped({limits().begin_s, limits().end_s, std::max(1.0, rows_rect().width())}, limits());
  view_.axis = fitted(view_.axis, limits().begin_s, limits().end_s, limits(), 0.01);
  state_->places = ZoomStack({view_.axis.begin_s, view_.axis.end_s, "", state_->options.folded});
  update_scroll_bars();
  changed();
  Q_EMIT traces_changed();
  Q_EMIT time_range_changed(view_.axis.begin_s, view_.axis.end_s);
  Q_EMIT span_selected(0, no_span);
  Q_EMIT places_changed();
}

void TimelineWidget::rebuild_rows() {
  std::vector<const LoadedTrace*> traces;
  for (const Source& source : view_.sources) traces.push_back(source.loaded);
  const auto ids =
      view_.area ? std::optional(std::pair(view_.rows[view_.area->first_row].id, view_.rows[view_.area->last_row].id))
                 : std::nullopt;
  view_.rows = make_rows(traces, state_->options);
  if (ids) {  // an area keeps its rows as long as both ends are there
    const auto row_of = [&](const std::string& id) {
      return static_cast<std::size_t>(
          std::find_if(view_.rows.begin(), view_.rows.end(), [&](const Row& row) { return row.id == id; }) -
          view_.rows.begin());
    };
    view_.area->first_row = row_of(ids->first);
    view_.area->last_row = row_of(ids->second);
    if (view_.area->first_row >= view_.rows.size() || view_.area->last_row >= view_.rows.size()) {
      view_.area.reset();
      Q_EMIT area_changed();
    }
  }
  view_.hovered.reset();
  update_scroll_bars();
  changed();
}

void TimelineWidget::set_axis(const TimeAxis& axis, bool new_place) {
  view_.axis = axis;
  remember(new_place);
  update_scroll_bars();
  viewport()->update();
  Q_EMIT time_range_changed(axis.begin_s, axis.end_s);
}

void TimelineWidget::remember(bool new_place) {
  const Place place{view_.axis.begin_s, view_.axis.end_s, state_->options.filter, state_->options.folded};
  const bool same_gesture = !new_place && state_->last_move.isValid() && state_->last_move.elapsed() < one_gesture_ms;
  if (same_gesture && state_->places.can_go_back()) {
    state_->places.replace(place);
  } else {
    state_->places.go(place);
  }
  state_->last_move.restart();
  Q_EMIT places_changed();
}

void TimelineWidget::take_place(const Place& place) {
  const bool other_rows = place.filter != state_->options.filter || place.folded != state_->options.folded;
  state_->options.filter = place.filter;
  state_->options.folded = place.folded;
  view_.axis.begin_s = place.begin_s;
  view_.axis.end_s = place.end_s;
  if (other_rows) rebuild_rows();
  state_->last_move.invalidate();
  update_scroll_bars();
  viewport()->update();
  Q_EMIT time_range_changed(place.begin_s, place.end_s);
  Q_EMIT places_changed();
}

const ZoomStack& TimelineWidget::places() const {
  return state_->places;
}

void TimelineWidget::show_range(double begin_s, double end_s) {
  set_axis(fitted(view_.axis, begin_s, end_s, limits()), true);
}

void TimelineWidget::show_all() {
  set_axis(fitted(view_.axis, limits().begin_s, limits().end_s, limits(), 0.01), true);
}

void TimelineWidget::set_filter(const QString& filter) {
  if (state_->options.filter == filter.toStdString()) return;
  state_->options.filter = filter.toStdString();
  rebuild_rows();
  remember(true);
}

void TimelineWidget::set_folded(std::size_t row, bool folded) {
  if (row >= view_.rows.size() || !view_.rows[row].foldable || view_.rows[row].folded == folded) return;
  const std::string id = view_.rows[row].id;
  if (folded) {
    state_->options.folded.insert(id);
  } else {
    state_->options.folded.erase(id);
  }
  rebuild_rows();
  remember(true);
}

void TimelineWidget::set_interleaved(bool interleaved) {
  if (state_->options.interleave == interleaved) return;
  state_->options.interleave = interleaved;
  rebuild_rows();
}

void TimelineWidget::set_shift(std::size_t source, double shift_s) {
  if (source >= view_.sources.size()) return;
  view_.sources[source].shift_s = shift_s;
  view_.axis = clamped(view_.axis, limits());
  update_scroll_bars();
  changed();
}

void TimelineWidget::bring_into_view(const SliceRef& ref) {
  const Source& source = view_.sources[ref.source];
  std::size_t row = visible_row(view_, ref.source, ref.lane);
  if (row == view_.rows.size()) return;
  const SliceRow::Slice slice = source.loaded->lanes[ref.lane].slices[ref.slice];
  const double begin = static_cast<double>(slice.begin_ns) * 1e-9 + source.shift_s;
  const double end = static_cast<double>(slice.end_ns) * 1e-9 + source.shift_s;
  if (begin < view_.axis.begin_s || end > view_.axis.end_s) {
    const double length = view_.axis.end_s - view_.axis.begin_s;
    const double middle = (begin + end) / 2;
    const double shown = std::max(length, (end - begin) * 1.2);
    const TimeAxis axis{middle - shown / 2, middle + shown / 2, view_.axis.width};
    set_axis(clamped(axis, limits()), false);
  }
  const int top = view_.rows[row].y, bottom = top + view_.rows[row].height;
  const int height = static_cast<int>(rows_rect().height());
  if (top < view_.scroll_y) verticalScrollBar()->setValue(top - 4);
  if (bottom > view_.scroll_y + height) verticalScrollBar()->setValue(bottom - height + 4);
}

void TimelineWidget::select(std::optional<SliceRef> slice) {
  view_.selected = slice;
  viewport()->update();
  if (!slice) {
    Q_EMIT span_selected(0, no_span);
    return;
  }
  const LoadedTrace& loaded = *view_.sources[slice->source].loaded;
  const SliceRow::Slice found = loaded.lanes[slice->lane].slices[slice->slice];
  const QString text = describe(loaded, found);
  setAccessibleDescription(text);
  Q_EMIT described(text);
  Q_EMIT span_selected(slice->source, found.span);
}

void TimelineWidget::select_span(std::uint8_t source, std::uint32_t span, bool into_view) {
  if (source >= view_.sources.size()) return;
  const LoadedTrace& loaded = *view_.sources[source].loaded;
  if (span >= loaded.row_of_span.size() || loaded.row_of_span[span] == no_span) return select(std::nullopt);
  const SliceRef slice{source, loaded.row_of_span[span], loaded.slice_of_span[span]};
  if (into_view) bring_into_view(slice);
  select(slice);
}

void TimelineWidget::select_area(const Area& area) {
  view_.area = area;
  viewport()->update();
  Q_EMIT area_changed();
}

void TimelineWidget::mark_spans(const std::vector<std::uint32_t>& spans) {
  view_.marked = spans;
  viewport()->update();
  if (spans.empty() || view_.sources.empty()) return;
  const Source& source = view_.sources.front();
  double begin = 0, end = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Span& span = source.loaded->trace.spans[spans[i]];
    begin = i == 0 ? span.begin_s : std::min(begin, span.begin_s);
    end = i == 0 ? span.end_s : std::max(end, span.end_s);
  }
  if (begin + source.shift_s < view_.axis.begin_s || end + source.shift_s > view_.axis.end_s) {
    show_range(begin + source.shift_s, end + source.shift_s);
  }
}

void TimelineWidget::highlight(const std::vector<SliceClass>& classes) {
  view_.highlighted.assign(classes.empty() ? 0 : slice_class_count, false);
  for (const SliceClass kind : classes) view_.highlighted[static_cast<std::size_t>(kind)] = true;
  changed();
}

void TimelineWidget::clear_selection() {
  const bool had_area = view_.area.has_value();
  view_.area.reset();
  view_.marked.clear();
  if (!view_.highlighted.empty()) highlight({});
  select(std::nullopt);
  if (had_area) Q_EMIT area_changed();
}

void TimelineWidget::update_scroll_bars() {
  state_->setting_bars = true;
  const int height = static_cast<int>(rows_rect().height());
  verticalScrollBar()->setPageStep(height);
  verticalScrollBar()->setSingleStep(24);
  verticalScrollBar()->setRange(0, std::max(0, total_height(view_.rows) - height));
  view_.scroll_y = verticalScrollBar()->value();
  const TimeLimits whole = limits();
  const double length = whole.end_s - whole.begin_s;
  const auto steps = [&](double part) { return static_cast<int>(std::clamp(part, -2.0, 2.0) * bar_steps); };
  const int page = steps((view_.axis.end_s - view_.axis.begin_s) / length);
  horizontalScrollBar()->setPageStep(std::max(page, 1));
  horizontalScrollBar()->setSingleStep(std::max(page / 20, 1));
  horizontalScrollBar()->setRange(0, std::max(0, bar_steps - page));
  horizontalScrollBar()->setValue(steps((view_.axis.begin_s - whole.begin_s) / length));
  state_->setting_bars = false;
}

void TimelineWidget::scrollContentsBy(int, int) {
  view_.scroll_y = verticalScrollBar()->value();
  viewport()->update();
  if (state_->setting_bars) return;
  const TimeLimits whole = limits();
  const double length = whole.end_s - whole.begin_s;
  const double begin = whole.begin_s + length * horizontalScrollBar()->value() / bar_steps;
  if (std::abs(begin - view_.axis.begin_s) < length / bar_steps * 1.5) return;  // it was the other bar
  const double shown = view_.axis.end_s - view_.axis.begin_s;
  view_.axis = clamped({begin, begin + shown, view_.axis.width}, whole);
  remember(false);
  Q_EMIT time_range_changed(view_.axis.begin_s, view_.axis.end_s);
}

}  // namespace stagecraft::gui
