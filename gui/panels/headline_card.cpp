#include "gui/panels/headline_card.hpp"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/theme/theme.hpp"

namespace stagecraft::gui {
namespace {

constexpr int margin = 14, widest_card = 250;
constexpr double title_size = 0.92, value_size = 1.55, remark_size = 0.86;

int line_height(double factor) {
  return QFontMetrics(scaled_font(factor)).height();
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
  setMaximumWidth(4 * widest_card);
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
  update();
}

void HeadlineCard::set_stale(bool stale) {
  if (stale_ == stale) return;
  stale_ = stale;
  update();
}

QSize HeadlineCard::sizeHint() const {
  const int lines = line_height(title_size) + line_height(value_size) + line_height(remark_size);
  return {170, lines + margin + gap + 4};
}

QSize HeadlineCard::minimumSizeHint() const {
  return {96, sizeHint().height()};
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

  const int width = this->width() - 2 * margin;
  int y = margin - 4;
  const auto line = [&](const QFont& font, const QColor& colour, const QString& text, int flags = Qt::AlignLeft) {
    painter.setFont(font);
    painter.setPen(colour);
    const QFontMetrics metrics(font);
    painter.drawText(QRect(margin, y, width, metrics.height()), flags | Qt::AlignVCenter,
                     metrics.elidedText(text, Qt::ElideRight, width));
    return metrics.height();
  };
  const QFont change_font = scaled_font(remark_size, QFont::DemiBold);
  if (!figure_.change.isEmpty()) line(change_font, colour_of(figure_, theme), figure_.change, Qt::AlignRight);
  y += line(scaled_font(title_size), theme.faint, figure_.title);
  QFont value = scaled_font(value_size, QFont::DemiBold);
  const int wanted = QFontMetrics(value).horizontalAdvance(figure_.value);
  const int value_line = line_height(value_size);
  if (wanted > width && wanted > 0) value = scaled_font(value_size * width / wanted, QFont::DemiBold);
  line(value, figure_.alarm ? theme.bad : theme.ink, figure_.value);
  y += value_line + 1;
  line(scaled_font(remark_size), theme.faint, figure_.remark);
  if (figure_.share >= 0) {
    const QRectF bar(margin, height() - 6.5, width, 2.5);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.border);
    painter.drawRoundedRect(bar, 1.2, 1.2);
    painter.setBrush(figure_.alarm ? theme.bad : theme.accent);
    painter.drawRoundedRect(QRectF(bar.x(), bar.y(), bar.width() * std::min(figure_.share, 1.0), bar.height()), 1.2,
                            1.2);
  }
}

}  // namespace stagecraft::gui
