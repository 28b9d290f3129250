#pragma once
// Colours, type sizes and distances of everything around the timeline, in light and dark.

#include <QApplication>
#include <QColor>
#include <QFont>
#include <QString>

namespace stagecraft::gui {

enum class ThemeChoice : std::uint8_t { system, light, dark };

struct Theme {
  bool dark = false;
  QColor window, panel, raised, border, ink, faint, accent, accent_ink, good, bad, warning, bad_wash, warning_wash,
      good_wash;
};
Theme make_theme(bool dark);

/// True if the palette that the platform gave was dark. Asked for the first time before apply_theme().
bool desktop_is_dark();

/// Fusion style, palette and style sheet for the whole program.
void apply_theme(QApplication& application, const Theme& theme);

/// Text of the whole program, in proportion to the size that the platform gave. Gives back the scale taken, which is
/// 0.6 to 3, and 1 for what is no scale.
double set_text_scale(QApplication& application, double wanted);

/// The theme that is applied now, read off the palette of the program.
Theme current_theme();

/// Sizes that follow the font of the program.
QFont scaled_font(double factor, int weight = QFont::Normal);
QFont digits_font(double factor = 1, int weight = QFont::Normal);  // figures of one width

inline constexpr int gap = 8;  // the distance that layouts are built from

}  // namespace stagecraft::gui
