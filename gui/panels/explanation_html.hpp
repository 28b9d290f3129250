#pragma once

#include <QString>

#include "report/explain.hpp"

namespace stagecraft::gui {

/// A figure, its formula and its inputs as rich text; every input is a link to its own explanation, and so is
/// `came_from` unless it is empty.
QString explanation_html(const Explanation& about, const QString& came_from);

}  // namespace stagecraft::gui
