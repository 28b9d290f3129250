#pragma once
// The timeline as a widget: one viewport, keys and mouse, a stack of places to go back to.

#include <QAbstractScrollArea>
#include <memory>
#include <optional>

#include "gui/timeline/timeline_view.hpp"
#include "gui/timeline/zoom_stack.hpp"

namespace stagecraft::gui {

struct PaintCache;

class TimelineWidget : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimelineWidget(QWidget* parent = nullptr);
  ~TimelineWidget() override;

  /// The traces stay the caller's and have to outlive the widget or the next call. Shows the whole of them.
  void set_traces(std::vector<Source> sources);
  const TimelineView& view() const { return view_; }
  void set_palette(const Palette& palette);
  void set_dimmed(bool dimmed);  // stale
  void set_critical_path(bool shown);
  void set_filter(const QString& filter);
  void set_interleaved(bool interleaved);
  void set_shift(std::size_t source, double shift_s);  // of a trace against the others
  void set_folded(std::size_t row, bool folded);       // a visible row

  void show_range(double begin_s, double end_s);  // a place of its own to go back from
  void show_all();
  void select_span(std::uint8_t source, std::uint32_t span, bool bring_into_view = true);
  void select_area(const Area& area);
  /// Frames these spans of the first trace and goes to them.
  void mark_spans(const std::vector<std::uint32_t>& spans);
  /// Dims everything but these classes; empty undoes it.
  void highlight(const std::vector<SliceClass>& classes);
  void clear_selection();
  /// Selects the next operation, after the selected one in the order of time, whose description contains `text`; false
  /// if there is none.
  bool find(const QString& text, bool forward = true);
  const ZoomStack& places() const;

  /// Every command with its key, for menus and for the list of keys; owned by the widget.
  QList<QAction*> commands() const;

 Q_SIGNALS:
  void traces_changed();
  void time_range_changed(double begin_s, double end_s);
  void span_selected(int source, quint32 span);  // no_span: nothing
  void area_changed();                           // view().area; sums: gui/models/trace_area.hpp
  void described(const QString& text);           // what is under the mouse or selected, for a status bar
  void search_requested();                       // "/"
  void keys_requested();                         // "?"
  void places_changed();                         // back or forward became possible or impossible

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  bool viewportEvent(QEvent* event) override;

 private:
  struct State;

  // Commands, in timeline_commands.cpp.
  void make_commands();
  void zoom_by(double factor);
  void pan_by(double part_of_width);
  void scroll_by(int pixels);
  void fit_selection();
  void go_back(bool back);
  void step_slice(int by);          // along the row
  void follow_arrow(bool forward);  // to what waited, or to what was waited for
  void fold_selected_row();
  void select_range_of_slice();
  void change_row_height(int by);

  // Changes of what is shown, in timeline_navigation.cpp.
  void set_axis(const TimeAxis& axis, bool new_place);
  void rebuild_rows();
  void remember(bool new_place);
  void take_place(const Place& place);
  void bring_into_view(const SliceRef& slice);
  void select(std::optional<SliceRef> slice);
  void update_scroll_bars();
  TimeLimits limits() const;
  QRectF rows_rect() const;
  void changed();  // repaint all rows

  // Mouse, in timeline_widget.cpp.
  void start_drag(QMouseEvent* event);
  void drag_to(QPointF point);
  void end_drag(QPointF point);
  Area area_between(QPointF a, QPointF b) const;
  void hover(QPointF point);

  TimelineView view_;
  std::unique_ptr<PaintCache> cache_;
  std::unique_ptr<State> state_;
};

}  // namespace stagecraft::gui
