#include "gui/models/axis_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "gui/models/point_text.hpp"

namespace stagecraft::gui {
namespace {

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_quoted(const std::string& value) {
  return value.size() >= 2 && value.front() == '"' && value.back() == '"';
}

/// A value is JSON or else a word.
std::string word_of_value(const std::string& value) {
  return is_quoted(value) ? value.substr(1, value.size() - 2) : value;
}

bool can_take(const FormField& field, const std::string& value) {
  const bool list = value.starts_with('['), object = value.starts_with('{');
  if (list) return field.list;
  const std::optional<double> number = number_of(value);
  switch (field.kind) {
    case FieldKind::integer:
    case FieldKind::number:
      return number && *number >= field.minimum && *number <= field.maximum &&
             (field.kind == FieldKind::number || *number == std::floor(*number));
    case FieldKind::boolean:
      return value == "true" || value == "false";
    case FieldKind::choice:
      return object ||
             std::find(field.choices.begin(), field.choices.end(), word_of_value(value)) != field.choices.end();
    case FieldKind::quantity:
      return object || !number;
    case FieldKind::name:
    case FieldKind::text:
      return true;
  }
  return true;
}

QString expected_of(const FormField& field) {
  const auto number = [](double value) { return QString::number(value, 'g', 15); };
  const auto range = [&](const QString& what) {
    return std::abs(field.maximum) >= 1e15 || std::abs(field.minimum) >= 1e15
               ? what
               : QString("%1 from %2 to %3").arg(what, number(field.minimum), number(field.maximum));
  };
  QStringList words;
  for (const std::string& choice : field.choices) words.append(QString::fromStdString(choice));
  switch (field.kind) {
    case FieldKind::integer:
      return range("a whole number");
    case FieldKind::number:
      return range("a number");
    case FieldKind::boolean:
      return "true or false";
    case FieldKind::choice:
      return "one of " + words.join(", ");
    default:
      return "an amount with its unit" +
             (field.default_text.empty() ? QString() : ", as in " + QString::fromStdString(field.default_text));
  }
}

}  // namespace

const FormField* field_of_axis(const std::vector<FormField>& fields, const std::string& path) {
  QString wanted = QString::fromStdString(path.substr(path.starts_with('/') ? 1 : 0));
  wanted.replace('/', '.');
  for (const FormField& field : fields) {
    if (axis_path(field) == wanted || QString::fromStdString(dotted(field.pointer)) == wanted) return &field;
  }
  return nullptr;
}

QString axis_path(const FormField& field) {
  return field.pointer == "/schedule/name" ? QString("schedule") : QString::fromStdString(dotted(field.pointer));
}

QString why_not(const FormField& field, const SweepAxis& axis) {
  for (const std::string& value : axis.values) {
    if (!can_take(field, value))
      return QString("%1: %2 is expected").arg(QString::fromStdString(value), expected_of(field));
  }
  return {};
}

}  // namespace stagecraft::gui
