#pragma once
// The fields that a sweep varies, and the values that a search is restricted to.

#include <QLabel>
#include <QStringList>
#include <QVBoxLayout>
#include <QWidget>

#include "gui/sweep/axis_row.hpp"

namespace stagecraft::gui {

class AxisList : public QWidget {
  Q_OBJECT

 public:
  /// `fields` are completed; they stay the caller's.
  explicit AxisList(const std::vector<FormField>& fields, QWidget* parent = nullptr);

  QStringList texts() const;  // "batch.micro=1,2,4"; lines without a field are left out
  /// Those of a sweep that ran before; what is written here for the same ones stays as it is written.
  void show_axes(const std::vector<SweepAxis>& axes);
  void set_texts(const QStringList& texts);
  /// "" if a sweep over all of it can start.
  QString problem() const { return problem_; }
  /// "" if a search can be restricted to it; nothing at all restricts nothing.
  QString search_problem() const { return search_problem_; }
  std::int64_t points() const { return points_; }
  std::vector<AxisRow*> rows() const { return rows_; }
  AxisRow* add(const QString& text);

 Q_SIGNALS:
  void changed();

 private:
  void judge();
  void show_summary();

  const std::vector<FormField>& fields_;
  QVBoxLayout* column_;
  std::vector<AxisRow*> rows_;
  QLabel* summary_;
  QString problem_, search_problem_;
  std::int64_t points_ = 0;
};

}  // namespace stagecraft::gui
