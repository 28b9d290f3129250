#pragma once

#include <QTableView>

namespace stagecraft::gui {

/// One column takes what the others leave, and never less than what stands in it: then the table scrolls sideways.
/// The titles of the others are whole.
void keep_column_whole(QTableView* table, int column);

}  // namespace stagecraft::gui
