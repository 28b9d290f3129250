#include "gui/theme/look.hpp"

#include <QEvent>
#include <QHeaderView>
#include <QPointer>

namespace stagecraft::gui {
namespace {

constexpr auto look_changed = static_cast<QEvent::Type>(QEvent::User + 61);
constexpr const char *ink_key = "look_ink", *factor_key = "look_factor", *weight_key = "look_weight";

class Follower : public QObject {
 public:
  Follower(QWidget* widget, std::function<void()> set) : QObject(widget), set_(std::move(set)) {
    widget->installEventFilter(this);
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (watched == parent() && event->type() == look_changed) set_();
    return QObject::eventFilter(watched, event);
  }

 private:
  std::function<void()> set_;
};

void renew_ink(QWidget* widget) {
  const QVariant ink = widget->property(ink_key);
  if (!ink.isValid()) return;
  QPalette colours = QApplication::palette();
  colours.setColor(QPalette::WindowText, colour_of(static_cast<Ink>(ink.toInt()), current_theme()));
  widget->setPalette(colours);
}

void renew_font(QWidget* widget) {
  const QVariant factor = widget->property(factor_key);
  if (factor.isValid()) widget->setFont(scaled_font(factor.toDouble(), widget->property(weight_key).toInt()));
}

}  // namespace

QColor colour_of(Ink ink, const Theme& theme) {
  switch (ink) {
    case Ink::plain:
      return theme.ink;
    case Ink::faint:
      return theme.faint;
    case Ink::good:
      return theme.good;
    case Ink::warning:
      return theme.warning;
    case Ink::bad:
      return theme.bad;
  }
  return theme.ink;
}

void set_ink(QWidget* widget, Ink ink) {
  widget->setProperty(ink_key, static_cast<int>(ink));
  renew_ink(widget);
}

void set_text_size(QWidget* widget, double factor, int weight) {
  widget->setProperty(factor_key, factor);
  widget->setProperty(weight_key, weight);
  renew_font(widget);
}

void follow_look(QWidget* widget, std::function<void()> set) {
  set();
  new Follower(widget, std::move(set));
}

void set_width_of(QWidget* widget, const QString& words, int frame) {
  follow_look(widget,
              [=] { widget->setFixedWidth(QFontMetrics(QApplication::font()).horizontalAdvance(words) + frame); });
}

void set_row_height(QTableView* table, int room) {
  follow_look(table, [=] {
    table->verticalHeader()->setDefaultSectionSize(QFontMetrics(QApplication::font()).height() + room);
  });
}

void renew_look() {
  QList<QPointer<QWidget>> widgets;  // what follows may end widgets
  for (QWidget* const widget : QApplication::allWidgets()) widgets.append(widget);
  for (const QPointer<QWidget>& widget : widgets) {
    renew_ink(widget);
    renew_font(widget);
  }
  for (const QPointer<QWidget>& widget : widgets) {
    if (widget.isNull()) continue;
    QEvent event(look_changed);
    QApplication::sendEvent(widget, &event);
  }
}

}  // namespace stagecraft::gui
