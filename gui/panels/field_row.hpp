#pragma once
// One field of the form: title, editor, what stands against its value with one-click fixes, and, while it has the
// focus, the values that would work now.

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/models/allowed_values.hpp"
#include "gui/models/problem.hpp"
#include "gui/panels/field_editor.hpp"

namespace stagecraft::gui {

class FieldRow : public QWidget {
  Q_OBJECT

 public:
  explicit FieldRow(const FormField& field, QWidget* parent = nullptr);
  void set_title_width(int width) { title_->setFixedWidth(width); }
  /// What everything but the title needs at least.
  static int width_beside_title();
  const FormField& field() const { return field_; }
  const FieldValue& value() const { return value_; }
  void show_value(const FieldValue& value);
  void show_problems(const std::vector<Problem>& problems);
  void show_allowed(const AllowedValues& allowed);  // not judged: hides the line

 Q_SIGNALS:
  void typed(const QString& value);
  void reset();

 private:
  static int reset_width();
  void clear_line(QWidget*& line);
  QWidget* chips(const QString& lead, const std::vector<std::string>& values, const char* kind);

  FormField field_;
  FieldValue value_{"", ValueOrigin::absent, "nothing was shown yet"};
  FieldEditor* editor_;
  QLabel* title_;
  QPushButton* reset_;
  QVBoxLayout* column_;
  QWidget* problem_line_ = nullptr;
  QWidget* allowed_line_ = nullptr;
  std::vector<Problem> problems_;
};

}  // namespace stagecraft::gui
