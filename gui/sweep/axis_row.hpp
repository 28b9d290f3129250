#pragma once
// One field to vary: its path, the values it takes, and what is wrong with them.

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QWidget>
#include <optional>

#include "gui/models/form_fields.hpp"
#include "search/axis.hpp"

namespace stagecraft::gui {

class AxisRow : public QWidget {
  Q_OBJECT

 public:
  AxisRow(const std::vector<FormField>& fields, const QString& text, QWidget* parent = nullptr);

  QString text() const;                   // "batch.micro=1,2,4"
  std::optional<SweepAxis> axis() const;  // none while something is wrong
  QString why() const;                    // what is wrong with the values; "" if nothing is, or there are none yet
  QLineEdit& values() { return *values_; }
  QComboBox& path() { return *path_; }

 Q_SIGNALS:
  void changed();
  void removed();

 private:
  void judge();
  void suggest();

  const std::vector<FormField>& fields_;
  QComboBox* path_;
  QLineEdit* values_;
  QLabel *verdict_, *why_;
  std::optional<SweepAxis> axis_;
};

/// Values worth trying: of words all, "1..8*2" and the like for numbers; "" if there are none to suggest.
QString suggested_values(const FormField& field);

}  // namespace stagecraft::gui
