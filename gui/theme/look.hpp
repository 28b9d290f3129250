#pragma once
// What of a widget depends on the theme and on the size of text: set once, and set again whenever either changes. Qt's
// style sheets give a widget back the font and palette that it had when it was first shown, so neither may be set bare.

#include <QTableView>
#include <functional>

#include "gui/theme/theme.hpp"

namespace stagecraft::gui {

enum class Ink : std::uint8_t { plain, faint, good, warning, bad };
QColor colour_of(Ink ink, const Theme& theme);

/// The colour of the words of a widget.
void set_ink(QWidget* widget, Ink ink);

/// A font in proportion to that of the program, as scaled_font().
void set_text_size(QWidget* widget, double factor, int weight = QFont::Normal);

/// As wide as these words and their frame.
void set_width_of(QWidget* widget, const QString& words, int frame);

/// Rows as high as a line of text and the room around it.
void set_row_height(QTableView* table, int room);

/// Calls `set` now and after every change of the look, as long as the widget lives.
void follow_look(QWidget* widget, std::function<void()> set);

/// Tells every widget that the look has changed; for theme.cpp.
void renew_look();

}  // namespace stagecraft::gui
