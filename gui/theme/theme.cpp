#include "gui/theme/theme.hpp"

#include <QPalette>
#include <QStyleFactory>
#include <algorithm>
#include <cmath>

#include "gui/theme/look.hpp"

namespace stagecraft::gui {
namespace {

QPalette palette_of(const Theme& theme) {
  QPalette palette;
  palette.setColor(QPalette::Window, theme.window);
  palette.setColor(QPalette::WindowText, theme.ink);
  palette.setColor(QPalette::Base, theme.panel);
  palette.setColor(QPalette::AlternateBase, theme.window);
  palette.setColor(QPalette::Text, theme.ink);
  palette.setColor(QPalette::Button, theme.raised);
  palette.setColor(QPalette::ButtonText, theme.ink);
  palette.setColor(QPalette::BrightText, theme.bad);
  palette.setColor(QPalette::Highlight, theme.accent);
  palette.setColor(QPalette::HighlightedText, theme.accent_ink);
  palette.setColor(QPalette::Link, theme.accent);
  palette.setColor(QPalette::ToolTipBase, theme.raised);
  palette.setColor(QPalette::ToolTipText, theme.ink);
  palette.setColor(QPalette::PlaceholderText, theme.faint);
  palette.setColor(QPalette::Light, theme.raised);
  palette.setColor(QPalette::Midlight, theme.border);
  palette.setColor(QPalette::Mid, theme.border);
  palette.setColor(QPalette::Dark, theme.border.darker(115));
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, theme.faint);
  palette.setColor(QPalette::Disabled, QPalette::Highlight, theme.border);
  return palette;
}

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
}

/// The arrow of a sorted column stands in the padding right of its title: the style leaves no room for it beside the
/// words.
const char* const sheet = R"(
QToolTip { background: @raised; color: @ink; border: 1px solid @border; padding: 6px; }
QMainWindow::separator { background: @border; width: 1px; height: 1px; }
QMenuBar { background: @window; border-bottom: 1px solid @border; padding: 2px 6px; }
QMenuBar::item { padding: 5px 10px; border-radius: 5px; background: transparent; }
QMenuBar::item:selected { background: @hover; }
QMenu { background: @raised; border: 1px solid @border; padding: 5px; }
QMenu::item { padding: 5px 26px 5px 22px; border-radius: 4px; }
QMenu::item:selected { background: @accent; color: @accent_ink; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @border; margin: 5px 6px; }
QMenu::indicator { left: 6px; width: 12px; height: 12px; }
QStatusBar { background: @window; border-top: 1px solid @border; color: @faint; }
QStatusBar::item { border: none; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: @faint; padding: 8px 14px; border: none; border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: @ink; border-bottom: 2px solid @accent; }
QTabBar::tab:hover { color: @ink; }
QTabBar::tab:focus { color: @accent; }
QTabWidget::pane { border: none; border-top: 1px solid @border; background: @panel; }
QScrollArea, QScrollArea > QWidget > QWidget#page { background: @window; border: none; }
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit, QTextBrowser { background: @panel; color: @ink; border: 1px solid @border; border-radius: 5px; padding: 3px 7px; min-height: 1.35em; selection-background-color: @accent; selection-color: @accent_ink; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus, QPlainTextEdit:focus, QTextBrowser:focus { border: 1px solid @accent; }
QLineEdit[wrong="true"], QSpinBox[wrong="true"], QComboBox[wrong="true"] { border: 1px solid @bad; background: @bad_wash; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { width: 0; height: 0; }
QCheckBox::indicator { width: 13px; height: 13px; border: 1px solid @faint; border-radius: 3px; background: @panel; }
QCheckBox::indicator:checked { background: @accent; border: 1px solid @accent; }
QCheckBox::indicator:focus { border: 1px solid @accent; }
QComboBox QAbstractItemView { background: @raised; border: 1px solid @border; outline: none; selection-background-color: @accent; selection-color: @accent_ink; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { width: 0; border: none; }
QPushButton, QToolButton { background: @raised; color: @ink; border: 1px solid @border; border-radius: 5px; padding: 5px 12px; }
QToolButton { padding: 4px 8px; }
QTabBar QToolButton { padding: 0; }
QPushButton:hover, QToolButton:hover { background: @hover; }
QPushButton:pressed, QToolButton:pressed { background: @border; }
QPushButton:focus, QToolButton:focus { border: 1px solid @accent; }
QPushButton:disabled, QToolButton:disabled { color: @faint; background: @window; }
QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled { color: @faint; background: @window; }
QPushButton:checked, QToolButton:checked { background: @accent; color: @accent_ink; border: 1px solid @accent; }
QPushButton[kind="primary"] { background: @accent; color: @accent_ink; border: 1px solid @accent; }
QPushButton[kind="primary"]:disabled { background: @border; border-color: @border; color: @faint; }
QPushButton[kind="quiet"] { background: transparent; border: 1px solid transparent; color: @faint; padding: 2px 6px; }
QPushButton[kind="quiet"]:hover { color: @ink; background: @hover; }
QPushButton[kind="quiet"]:focus { border: 1px solid @accent; }
QPushButton[kind="chip"] { padding: 1px 9px; border-radius: 9px; background: transparent; color: @accent; border: 1px solid @border; }
QPushButton[kind="chip"]:hover { border: 1px solid @accent; }
QPushButton[kind="chip"]:checked { background: @accent; color: @accent_ink; border: 1px solid @accent; }
QPushButton[kind="fix"] { padding: 1px 9px; border-radius: 9px; background: @bad_wash; color: @bad; border: 1px solid @bad; }
QPushButton[kind="fix"]:hover { background: @bad; color: @panel; }
QPushButton[kind="card"] { text-align: left; padding: 12px 14px; background: @panel; border: 1px solid @border; border-radius: 8px; }
QPushButton[kind="card"]:hover, QPushButton[kind="card"]:focus { border: 1px solid @accent; }
QTableView, QTreeView, QListView { background: @panel; border: none; gridline-color: @border; outline: none; selection-background-color: @selection; selection-color: @ink; alternate-background-color: @window; }
QHeaderView { background: @panel; }
QHeaderView::section { background: @panel; color: @faint; border: none; border-bottom: 1px solid @border; padding: 6px 10px; }
QHeaderView::section:vertical { padding: 0px 10px; }
QHeaderView::up-arrow, QHeaderView::down-arrow { subcontrol-origin: margin; subcontrol-position: right center; right: 1px; width: 8px; height: 8px; }
QTableCornerButton::section { background: @panel; border: none; }
QSplitter::handle { background: @border; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QAbstractScrollArea::corner { background: @window; border: none; }
QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: 11px; margin: 1px; }
QScrollBar:horizontal { height: 11px; margin: 1px; }
QScrollBar::handle { background: @border; border-radius: 4px; }
QScrollBar::handle:hover { background: @faint; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: none; }
QProgressBar { background: @border; border: none; border-radius: 2px; max-height: 4px; }
QProgressBar::chunk { background: @accent; border-radius: 2px; }
QFrame#line { background: @border; max-height: 1px; border: none; }
)";

QString filled(const Theme& theme) {
  QString text(sheet);
  const QColor hover = theme.dark ? theme.border : QColor(theme.border).lighter(104);
  QColor selection = theme.accent;
  selection.setAlphaF(theme.dark ? 0.32F : 0.16F);
  const auto put = [&](const char* name, const QColor& colour) {
    text.replace(QString("@%1;").arg(name), colour.name(QColor::HexArgb) + ";");
    text.replace(QString("@%1 ").arg(name), colour.name(QColor::HexArgb) + " ");
  };
  put("window", theme.window), put("panel", theme.panel), put("raised", theme.raised), put("border", theme.border);
  put("ink", theme.ink), put("faint", theme.faint), put("accent", theme.accent), put("accent_ink", theme.accent_ink);
  put("bad", theme.bad), put("bad_wash", theme.bad_wash), put("hover", hover), put("selection", selection);
  return text;
}

}  // namespace

Theme make_theme(bool dark) {
  Theme theme;
  theme.dark = dark;
  theme.window = dark ? QColor(0x16, 0x1a, 0x21) : QColor(0xf5, 0xf6, 0xf8);
  theme.panel = dark ? QColor(0x1c, 0x21, 0x2a) : QColor(0xff, 0xff, 0xff);
  theme.raised = dark ? QColor(0x24, 0x2a, 0x35) : QColor(0xff, 0xff, 0xff);
  theme.border = dark ? QColor(0x32, 0x3a, 0x47) : QColor(0xdd, 0xe1, 0xe7);
  theme.ink = dark ? QColor(0xe6, 0xea, 0xf0) : QColor(0x1b, 0x23, 0x2e);
  theme.faint = dark ? QColor(0x98, 0xa3, 0xb3) : QColor(0x5d, 0x68, 0x78);
  theme.accent = dark ? QColor(0x74, 0xa9, 0xff) : QColor(0x1f, 0x62, 0xc9);
  theme.accent_ink = dark ? QColor(0x10, 0x16, 0x20) : QColor(0xff, 0xff, 0xff);
  theme.good = dark ? QColor(0x5f, 0xc7, 0xb4) : QColor(0x0b, 0x76, 0x67);
  theme.bad = dark ? QColor(0xff, 0x93, 0x7c) : QColor(0xb9, 0x3a, 0x1e);
  theme.warning = dark ? QColor(0xf0, 0xc2, 0x5e) : QColor(0x8a, 0x5a, 0x00);
  theme.bad_wash = dark ? QColor(0x3a, 0x25, 0x24) : QColor(0xfd, 0xf0, 0xec);
  theme.warning_wash = dark ? QColor(0x37, 0x30, 0x21) : QColor(0xfd, 0xf6, 0xe3);
  theme.good_wash = dark ? QColor(0x1d, 0x35, 0x34) : QColor(0xe8, 0xf5, 0xf2);
  return theme;
}

bool desktop_is_dark() {
  constexpr const char* key = "desktop_is_dark";
  if (!qApp->property(key).isValid()) qApp->setProperty(key, is_dark(QApplication::palette()));
  return qApp->property(key).toBool();
}

void apply_theme(QApplication& application, const Theme& theme) {
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  QApplication::setPalette(palette_of(theme));
  application.setStyleSheet(filled(theme));
  renew_look();
}

double set_text_scale(QApplication& application, double wanted) {
  const double scale = wanted > 0 ? std::clamp(wanted, 0.6, 3.0) : 1.0;
  constexpr const char* key = "text_size_of_the_platform";
  QFont font = QApplication::font();
  const bool points = font.pointSizeF() > 0;
  if (!application.property(key).isValid())
    application.setProperty(key, points ? font.pointSizeF() : static_cast<double>(font.pixelSize()));
  const double size = application.property(key).toDouble() * scale;
  points ? font.setPointSizeF(size) : font.setPixelSize(static_cast<int>(std::lround(size)));
  QApplication::setFont(font);
  application.setStyleSheet(application.styleSheet());  // its lengths in em
  renew_look();
  return scale;
}

Theme current_theme() {
  return make_theme(is_dark(QApplication::palette()));
}

QFont scaled_font(double factor, int weight) {
  QFont font = QApplication::font();
  if (font.pointSizeF() > 0) {
    font.setPointSizeF(font.pointSizeF() * factor);
  } else {
    font.setPixelSize(static_cast<int>(std::lround(font.pixelSize() * factor)));
  }
  font.setWeight(static_cast<QFont::Weight>(weight));
  return font;
}

QFont digits_font(double factor, int weight) {
  QFont font = scaled_font(factor, weight);
  font.setStyleHint(QFont::SansSerif);
  return font;
}

}  // namespace stagecraft::gui
