#pragma once
// What a sweep may not try of a field, as the form's schema says it; what else is wrong the points themselves tell.

#include <QString>
#include <vector>

#include "gui/models/form_fields.hpp"
#include "search/axis.hpp"

namespace stagecraft::gui {

/// The field that a sweep names "parallel.tensor" or "/parallel/tensor"; null if the form has none of that name.
const FormField* field_of_axis(const std::vector<FormField>& fields, const std::string& path);

/// As a sweep names a field: a schedule by its name alone.
QString axis_path(const FormField& field);

/// "1..x: a whole number from 1 to 1024 is expected" for the first value that the field cannot take; "" if it can take
/// all.
QString why_not(const FormField& field, const SweepAxis& axis);

}  // namespace stagecraft::gui
