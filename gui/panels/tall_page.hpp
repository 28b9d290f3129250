#pragma once

#include <QScrollArea>

namespace stagecraft::gui {

/// A page that scrolls where it is lower than what stands on it needs, so that nothing is pressed together or cut.
QScrollArea* make_tall_page(QLayout* layout, QWidget* parent = nullptr);

}  // namespace stagecraft::gui
