#pragma once
// The timeline as a widget: one viewport, keys and mouse, a stack of places to go back to.

#include <QAbstractScrollArea>
#include <memory>

#include "gui/timeline/timeline_view.hpp"
#include "gui/timeline/zoom_stack.hpp"

namespace stagecraft::gui {

class PaintCache;

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

  void show_range(double begin_s, double end_s);  // a place of its own to go back from
  void select_span(std::uint8_t source, std::uint32_t span, bool bring_into_view = true);
  /// Frames these spans of the first trace and goes to them.
  void mark_spans(const std::vector<std::uint32_t>& spans);
  /// Dims everything but these classes; empty undoes it.
  void highlight(const std::vector<SliceClass>& classes);
  void clear_selection();

  /// Every command with its key, for menus and for the list of keys; owned by the widget.
  QList<QAction*> commands() const;

 Q_SIGNALS:
  void traces_changed();
  void time_range_changed(double begin_s, double end_s);
  void span_selected(int source, quint32 span);  // no_span: nothing
  void area_changed();                           // view().area; sums: gui/models/trace_area.hpp
  void hovered(const QString& text);             // for a status bar
  void search_requested();                       // "/"
  void keys_requested();                         // "?"

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  bool viewportEvent(QEvent* event) override;

 private:
  struct State;
  TimelineView view_;
  std::unique_ptr<PaintCache> cache_;
  std::unique_ptr<State> state_;
};

}  // namespace stagecraft::gui
