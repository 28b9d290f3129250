#pragma once
// The editor of one field of the form, by its kind: a line, a check box, a list of words.

#include <QWidget>

#include "gui/models/field_values.hpp"
#include "gui/models/form_fields.hpp"

namespace stagecraft::gui {

class FieldEditor : public QWidget {
  Q_OBJECT

 public:
  explicit FieldEditor(const FormField& field, QWidget* parent = nullptr);
  /// A value that is written shows as such; one that was chosen or inherited shows paler. Sends nothing.
  virtual void show_value(const FieldValue& value) = 0;
  virtual void set_wrong(bool wrong) = 0;
  /// Values that Up and Down step through.
  virtual void set_allowed(const std::vector<std::string>& values) { (void)values; }

 Q_SIGNALS:
  void typed(const QString& value);  // "" asks for the default
};

/// Of a number and its unit.
int least_editor_width();

FieldEditor* make_field_editor(const FormField& field, QWidget* parent);

}  // namespace stagecraft::gui
