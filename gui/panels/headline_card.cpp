#include "gui/panels/headline_card.hpp"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/theme/theme.hpp"

namespace stagecraft::gui {
namespace {

constexpr int margin = 10;
constexpr double title_size = 0.92, value_size = 1.55, least_value_size = 1.2, remark_size = 0.86;

QFont title_font() {
  return scaled_font(title_size);
}
QFont value_font(double factor) {
  return scaled_font(factor, QFont::DemiBold);
}
QFont change_font() {
  return scaled_font(remark_size, QFont::DemiBold);
}
QFont remark_font() {
  return scaled_font(remark_size);
}

int width_of(const QString& text, const QFont& font) {
  return QFontMetrics(font).horizontalAdvance(text) + 1;  // what is drawn may be a part of a pixel wider
}
int height_of(const QFont& font) {
  return QFontMetrics(font).height();
}

/// The largest font in which the whole value has room.
double value_factor_of(const QString& value, int room) {
  double factor = value_size;
  while (factor > remark_size && width_of(value, value_font(factor)) > room) factor -= 0.05;
  return factor;
}

QColor colour_of(const HeadlineFigure& figure, const Theme& theme) {
  return figure.trend == Trend::better ? theme.good : figure.trend == Trend::worse ? theme.bad : theme.faint;
}

}  // namespace

HeadlineCard::HeadlineCard(QWidget* parent) : QAbstractButton(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  setAttribute(Qt::WA_Hover);
}

void HeadlineCard::show_figure(const HeadlineFigure& figure) {
  figure_ = figure;
  setText(figure.title);
  const QString change = figure.change.isEmpty() ? QString() : tr(", %1 against the pin").arg(figure.change);
  setAccessibleName(QString("%1: %2%3").arg(figure.title, figure.value, change));
  setAccessibleDescription(figure.remark);
  setToolTip(figure.key.isEmpty() ? QString()
                                  : tr("%1\nClick for the formula and its inputs")
                                        .arg(figure.detail.isEmpty() ? figure.remark : figure.detail));
  updateGeometry();
  update();
}

void HeadlineCard::set_stale(bool stale) {
  if (stale_ == stale) return;
  stale_ = stale;
  update();
}

bool HeadlineCard::has_room_for_change(int width) const {
  return width_of(figure_.title, title_font()) + gap + width_of(figure_.change, change_font()) <= width - 2 * margin;
}

void HeadlineCard::set_change_below(bool below) {
  if (change_below_ == below) return;
  change_below_ = below;
  update();
}

QSize HeadlineCard::sizeHint() const {
  const int lines = height_of(title_font()) + height_of(value_font(value_size)) + height_of(remark_font());
  return {170, lines + margin + gap + 6};
}

QSize HeadlineCard::minimumSizeHint() const {
  const int widest =
      std::max({width_of(figure_.title, title_font()), width_of(figure_.value, value_font(least_value_size)),
                width_of(figure_.change, change_font())});
  return {widest + 2 * margin, sizeHint().height()};
}

CardLines HeadlineCard::lines() const {
  const int room = width() - 2 * margin;
  const int value_top = margin - 4 + height_of(title_font());
  const int remark_top = value_top + height_of(value_font(value_size)) + 1;
  CardLines lines;
  lines.title = QRect(margin, margin - 4, room, height_of(title_font()));
  lines.value_factor = value_factor_of(figure_.value, room);
  lines.value = QRect(margin, value_top, room, height_of(value_font(lines.value_factor)));
  lines.remark = QRect(margin, remark_top, room, height_of(remark_font()));
  if (figure_.change.isEmpty()) return lines;
  const int wide = std::min(width_of(figure_.change, change_font()), room);
  if (change_below_) {
    lines.change = QRect(margin, remark_top, wide, lines.remark.height());
    lines.remark.setLeft(std::min(lines.change.right() + 1 + gap, margin + room));
  } else {
    lines.change = QRect(margin + room - wide, lines.title.top(), wide, lines.title.height());
    lines.title.setRight(lines.change.left() - 1 - gap / 2);
  }
  return lines;
}

void HeadlineCard::paintEvent(QPaintEvent*) {
  const Theme theme = current_theme();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
  painter.setPen(hasFocus() || underMouse() ? theme.accent : figure_.alarm ? theme.bad : theme.border);
  painter.setBrush(figure_.alarm ? theme.bad_wash : theme.panel);
  painter.drawRoundedRect(frame, 8, 8);
  painter.setOpacity(stale_ ? 0.45 : 1.0);

  const auto words = [&](const QRect& place, const QFont& font, const QColor& colour, const QString& text) {
    painter.setFont(font);
    painter.setPen(colour);
    painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(font).elidedText(text, Qt::ElideRight, place.width()));
  };
  const CardLines lines = this->lines();
  words(lines.title, title_font(), theme.faint, figure_.title);
  words(lines.value, value_font(lines.value_factor), figure_.alarm ? theme.bad : theme.ink, figure_.value);
  words(lines.remark, remark_font(), theme.faint, figure_.remark);
  if (!figure_.change.isEmpty()) words(lines.change, change_font(), colour_of(figure_, theme), figure_.change);
  if (figure_.share >= 0) {
    const QRectF bar(margin, height() - 6.5, width() - 2 * margin, 2.5);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.border);
    painter.drawRoundedRect(bar, 1.2, 1.2);
    painter.setBrush(figure_.alarm ? theme.bad : theme.accent);
    painter.drawRoundedRect(QRectF(bar.x(), bar.y(), bar.width() * std::min(figure_.share, 1.0), bar.height()), 1.2,
                            1.2);
  }
}

}  // namespace stagecraft::gui
