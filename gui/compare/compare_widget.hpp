#pragma once
// Two traces over each other with one zoom, and the tables of their differences.

#include <QWidget>
#include <memory>

#include "gui/models/trace_rows.hpp"
#include "gui/timeline/palette.hpp"

namespace stagecraft::gui {

class TimelineWidget;
struct Comparison;

/// A over B. Where B is measured and A predicted, the differences are prediction errors.
class CompareWidget : public QWidget {
  Q_OBJECT

 public:
  explicit CompareWidget(QWidget* parent = nullptr);
  ~CompareWidget() override;
  /// Either may be null. Both stay the caller's and have to outlive the widget or the next call.
  void set_traces(const LoadedTrace* a, const LoadedTrace* b);
  void set_palette(const Palette& palette);
  TimelineWidget& timeline();

 public Q_SLOTS:
  void align_at_step_start();
  void align_at_selection();  // the selected operation and its partner begin at one place

 Q_SIGNALS:
  void status(const QString& text);
  void compared();  // the tables are filled

 private:
  void show_comparison(Comparison comparison);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stagecraft::gui
