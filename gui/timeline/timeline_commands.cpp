// Commands of a timeline widget and their keys.
#include <QAction>
#include <QScrollBar>
#include <algorithm>

#include "gui/timeline/describe.hpp"
#include "gui/timeline/paint_cache.hpp"
#include "gui/timeline/paint_overlays.hpp"
#include "gui/timeline/timeline_state.hpp"

namespace stagecraft::gui {
namespace {

constexpr double zoom_step = 0.7, pan_step = 0.15;
constexpr int lowest_row = 3, highest_row = 60;

}  // namespace

void TimelineWidget::make_commands() {
  const auto add = [this](const QString& text, const QList<QKeySequence>& keys, auto&& command) {
    auto* action = new QAction(text, this);
    action->setShortcuts(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, command);
    addAction(action);
    state_->commands.push_back(action);
    return action;
  };
  using Keys = QList<QKeySequence>;
  const auto key = [](const char* text) { return QKeySequence(QString::fromLatin1(text)); };
  add(tr("Zoom in"), Keys{key("W"), key("Ctrl++"), key("Ctrl+=")}, [this] { zoom_by(zoom_step); });
  add(tr("Zoom out"), Keys{key("S"), key("Ctrl+-")}, [this] { zoom_by(1 / zoom_step); });
  add(tr("Move left"), Keys{key("A"), key("Left")}, [this] { pan_by(-pan_step); });
  add(tr("Move right"), Keys{key("D"), key("Right")}, [this] { pan_by(pan_step); });
  add(tr("Scroll up"), Keys{key("Up")}, [this] { scroll_by(-40); });
  add(tr("Scroll down"), Keys{key("Down")}, [this] { scroll_by(40); });
  add(tr("Page up"), Keys{key("PgUp")}, [this] { scroll_by(-verticalScrollBar()->pageStep()); });
  add(tr("Page down"), Keys{key("PgDown")}, [this] { scroll_by(verticalScrollBar()->pageStep()); });
  add(tr("Fit the selection"), Keys{key("F")}, [this] { fit_selection(); });
  add(tr("Show everything"), Keys{key("Home"), key("0")}, [this] { show_all(); });
  add(tr("Go back"), Keys{key("Backspace"), key("Alt+Left")}, [this] { go_back(true); });
  add(tr("Go forward"), Keys{key("Shift+Backspace"), key("Alt+Right")}, [this] { go_back(false); });
  add(tr("Next slice of the row"), Keys{key(".")}, [this] { step_slice(1); });
  add(tr("Previous slice of the row"), Keys{key(",")}, [this] { step_slice(-1); });
  add(tr("To what waited for this"), Keys{key("]")}, [this] { follow_arrow(true); });
  add(tr("To what this waited for"), Keys{key("[")}, [this] { follow_arrow(false); });
  add(tr("Select the time of this slice in all rows"), Keys{key("R")}, [this] { select_range_of_slice(); });
  add(tr("Fold or unfold the row of the selection"), Keys{key("Space")}, [this] { fold_selected_row(); });
  add(tr("Higher rows"), Keys{key("+"), key("=")}, [this] { change_row_height(4); });
  add(tr("Lower rows"), Keys{key("-")}, [this] { change_row_height(-4); });
  QAction* critical = add(tr("Critical path"), Keys{key("C")}, [this](bool on) { set_critical_path(on); });
  critical->setCheckable(true);
  critical->setObjectName(QStringLiteral("critical_path"));
  add(tr("Search"), Keys{key("/")}, [this] { Q_EMIT search_requested(); });
  add(tr("Keys"), Keys{key("?")}, [this] { Q_EMIT keys_requested(); });
  add(tr("Clear the selection"), Keys{key("Esc")}, [this] { clear_selection(); });
}

QList<QAction*> TimelineWidget::commands() const {
  return state_->commands;
}

void TimelineWidget::zoom_by(double factor) {
  const double anchor = state_->mouse_inside ? state_->mouse.x() : view_.axis.width / 2;
  set_axis(zoomed(view_.axis, factor, std::clamp(anchor, 0.0, view_.axis.width), limits()), false);
}

void TimelineWidget::pan_by(double part_of_width) {
  // Whole pixels, so that what has been drawn can be moved.
  set_axis(panned(view_.axis, std::round(part_of_width * view_.axis.width), limits()), false);
}

void TimelineWidget::scroll_by(int pixels) {
  verticalScrollBar()->setValue(verticalScrollBar()->value() + pixels);
}

void TimelineWidget::fit_selection() {
  if (view_.area) return show_range(view_.area->begin_s, view_.area->end_s);
  if (!view_.selected) return show_all();
  const Source& source = view_.sources[view_.selected->source];
  const SliceRow::Slice slice = source.loaded->lanes[view_.selected->lane].slices[view_.selected->slice];
  show_range(static_cast<double>(slice.begin_ns) * 1e-9 + source.shift_s,
             static_cast<double>(slice.end_ns) * 1e-9 + source.shift_s);
}

void TimelineWidget::go_back(bool back) {
  if (back ? !state_->places.can_go_back() : !state_->places.can_go_forward()) return;
  take_place(back ? state_->places.back() : state_->places.forward());
}

void TimelineWidget::step_slice(int by) {
  SliceRef slice;
  if (view_.selected) {
    slice = *view_.selected;
    const std::size_t count = view_.sources[slice.source].loaded->lanes[slice.lane].slices.size();
    const std::int64_t next = static_cast<std::int64_t>(slice.slice) + by;
    if (next < 0 || next >= static_cast<std::int64_t>(count)) return;
    slice.slice = static_cast<std::uint32_t>(next);
  } else {  // the first one in view
    const auto row = std::find_if(view_.rows.begin(), view_.rows.end(),
                                  [&](const Row& r) { return r.lanes.size() == 1 && r.y + r.height > view_.scroll_y; });
    if (row == view_.rows.end()) return;
    const Source& source = view_.sources[row->source];
    const SliceRow& slices = source.loaded->lanes[row->lanes.front()].slices;
    const std::size_t first = slices.first_ending_after(nanoseconds(view_.axis.begin_s - source.shift_s));
    if (first == slices.size()) return;
    slice = {row->source, row->lanes.front(), static_cast<std::uint32_t>(first)};
  }
  bring_into_view(slice);
  select(slice);
}

void TimelineWidget::follow_arrow(bool forward) {
  if (!view_.selected) return;
  const SliceRef here = *view_.selected;
  const LoadedTrace& loaded = *view_.sources[here.source].loaded;
  const std::uint32_t span = loaded.lanes[here.lane].slices.span(here.slice);
  if (span == no_span) return;
  // Of several the one that mattered: what ended last, or what began first.
  std::uint32_t best = no_span;
  for (const std::uint32_t next : predecessors_of(forward ? loaded.after : loaded.before, span)) {
    if (loaded.row_of_span[next] == no_span) continue;
    const Span& from = loaded.trace.spans[span];
    const auto rank = [&](std::uint32_t index) {
      const Span& other = loaded.trace.spans[index];
      const bool across = other.rank != from.rank || other.lane != from.lane;
      return std::tuple(!across, forward ? other.begin_s : -other.end_s, index);
    };
    if (best == no_span || rank(next) < rank(best)) best = next;
  }
  if (best != no_span) select_span(here.source, best);
}

void TimelineWidget::fold_selected_row() {
  std::size_t row = view_.rows.size();
  if (view_.selected) {
    const std::int32_t rank = view_.sources[view_.selected->source].loaded->lanes[view_.selected->lane].rank;
    for (std::size_t i = 0; i < view_.rows.size(); ++i) {
      const Row& candidate = view_.rows[i];
      if (candidate.kind == RowKind::rank && candidate.source == view_.selected->source && candidate.rank == rank)
        row = i;
    }
  } else if (state_->mouse_inside) {
    row = row_at(view_.rows, static_cast<int>(state_->mouse.y()) + view_.scroll_y);
  }
  if (row < view_.rows.size()) set_folded(row, !view_.rows[row].folded);
}

void TimelineWidget::select_range_of_slice() {
  if (!view_.selected || view_.rows.empty()) return;
  const Source& source = view_.sources[view_.selected->source];
  const SliceRow::Slice slice = source.loaded->lanes[view_.selected->lane].slices[view_.selected->slice];
  select_area({static_cast<double>(slice.begin_ns) * 1e-9 + source.shift_s,
               static_cast<double>(slice.end_ns) * 1e-9 + source.shift_s, 0, view_.rows.size() - 1});
}

void TimelineWidget::change_row_height(int by) {
  const int height = std::clamp(state_->options.rank_height + by, lowest_row, highest_row);
  if (height == state_->options.rank_height) return;
  state_->options.rank_height = height;
  rebuild_rows();
}

void TimelineWidget::set_critical_path(bool shown) {
  for (QAction* action : state_->commands) {
    if (action->objectName() == QLatin1String("critical_path")) action->setChecked(shown);
  }
  if (view_.critical_path == shown) return;
  view_.critical_path = shown;
  changed();
}

bool TimelineWidget::find(const QString& text, bool forward) {
  if (text.isEmpty() || view_.sources.empty()) return false;
  const auto source = view_.selected ? view_.selected->source : std::uint8_t{0};
  const LoadedTrace& loaded = *view_.sources[source].loaded;
  const std::vector<Span>& spans = loaded.trace.spans;
  using Moment = std::pair<double, std::uint32_t>;
  std::optional<Moment> here, best;
  if (view_.selected) {
    const std::uint32_t span = loaded.lanes[view_.selected->lane].slices.span(view_.selected->slice);
    if (span != no_span) here = Moment{spans[span].begin_s, span};
  }
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    if (loaded.row_of_span[i] == no_span) continue;
    const Moment moment{spans[i].begin_s, i};
    const bool beyond = !here || (forward ? moment > *here : moment < *here);
    const bool nearer = !best || (forward ? moment < *best : moment > *best);
    if (!beyond || !nearer || !describe(loaded, i).contains(text, Qt::CaseInsensitive)) continue;
    best = moment;
  }
  if (best) select_span(source, best->second);
  return best.has_value();
}

}  // namespace stagecraft::gui
