#pragma once
// The scenario form as a list: one entry per field, with its value, where that comes from, and what stands against it.

#include <QAbstractListModel>
#include <map>
#include <vector>

#include "gui/models/field_values.hpp"
#include "gui/models/form_fields.hpp"
#include "gui/models/problem.hpp"

namespace stagecraft::gui {

class FormModel : public QAbstractListModel {
  Q_OBJECT

 public:
  enum Role { pointer_role = Qt::UserRole, group_role, value_role, origin_role, problem_role, offers_role };

  explicit FormModel(std::vector<FormField> fields, QObject* parent = nullptr);

  const std::vector<FormField>& fields() const { return fields_; }
  const FormField* find(const std::string& pointer) const;
  FieldValue value(const std::string& pointer) const;
  /// Of one field, most severe first.
  std::vector<Problem> problems(const std::string& pointer) const;
  /// Of the scenario as a whole: those that no field is to blame for.
  std::vector<Problem> other_problems() const;

  void set_values(std::map<std::string, FieldValue> values);
  /// That of a list's element becomes the list's.
  void set_problems(std::vector<Problem> problems);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

 private:
  std::vector<FormField> fields_;
  std::map<std::string, FieldValue> values_;
  std::vector<Problem> problems_;
};

}  // namespace stagecraft::gui
