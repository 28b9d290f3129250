#include "gui/models/form_model.hpp"

#include <algorithm>
#include <utility>

namespace stagecraft::gui {
namespace {

/// "/parallel/partition" of "/parallel/partition/1"; "" for what is no element of a list.
std::string list_of(const std::string& pointer) {
  const std::size_t slash = pointer.rfind('/');
  if (slash == std::string::npos || slash + 1 == pointer.size()) return "";
  return pointer.find_first_not_of("0123456789", slash + 1) == std::string::npos ? pointer.substr(0, slash) : "";
}

}  // namespace

FormModel::FormModel(std::vector<FormField> fields, QObject* parent)
    : QAbstractListModel(parent), fields_(std::move(fields)) {}

const FormField* FormModel::find(const std::string& pointer) const {
  const auto found =
      std::find_if(fields_.begin(), fields_.end(), [&](const FormField& field) { return field.pointer == pointer; });
  return found == fields_.end() ? nullptr : &*found;
}

FieldValue FormModel::value(const std::string& pointer) const {
  const auto found = values_.find(pointer);
  return found == values_.end() ? FieldValue{} : found->second;
}

std::vector<Problem> FormModel::problems(const std::string& pointer) const {
  std::vector<Problem> here;
  for (const Problem& problem : problems_)
    if (problem.pointer == pointer) here.push_back(problem);
  return here;
}

std::vector<Problem> FormModel::other_problems() const {
  std::vector<Problem> others;
  for (const Problem& problem : problems_)
    if (find(problem.pointer) == nullptr) others.push_back(problem);
  return others;
}

void FormModel::set_values(std::map<std::string, FieldValue> values) {
  values_ = std::move(values);
  if (!fields_.empty()) Q_EMIT dataChanged(index(0), index(rowCount() - 1));
}

void FormModel::set_problems(std::vector<Problem> problems) {
  problems_ = std::move(problems);
  for (Problem& problem : problems_)
    if (find(problem.pointer) == nullptr && find(list_of(problem.pointer)) != nullptr)
      problem.pointer = list_of(problem.pointer);
  if (!fields_.empty()) Q_EMIT dataChanged(index(0), index(rowCount() - 1));
}

int FormModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(fields_.size());
}

QVariant FormModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const FormField& field = fields_[static_cast<std::size_t>(index.row())];
  const std::vector<Problem> here = problems(field.pointer);
  switch (role) {
    case Qt::DisplayRole:
      return QString::fromStdString(field.title);
    case Qt::ToolTipRole:
      return QString::fromStdString(field.description);
    case pointer_role:
      return QString::fromStdString(field.pointer);
    case group_role:
      return QString::fromStdString(field.group);
    case value_role:
      return QString::fromStdString(value(field.pointer).text);
    case origin_role:
      return QString::fromStdString(value(field.pointer).whence);
    case problem_role:
      return here.empty() ? QString() : here.front().message;
    case offers_role: {
      QStringList offers;
      for (const Problem& problem : here)
        for (const std::string& offer : problem.offers) offers.append(QString::fromStdString(offer));
      offers.removeDuplicates();
      return offers;
    }
    default:
      return {};
  }
}

QHash<int, QByteArray> FormModel::roleNames() const {
  return {{Qt::DisplayRole, "title"}, {pointer_role, "pointer"}, {group_role, "group"},  {value_role, "value"},
          {origin_role, "origin"},    {problem_role, "problem"}, {offers_role, "offers"}};
}

}  // namespace stagecraft::gui
