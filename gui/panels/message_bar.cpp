#include "gui/panels/message_bar.hpp"

#include "gui/theme/look.hpp"

namespace stagecraft::gui {

MessageBar::MessageBar(QWidget* parent)
    : QWidget(parent), text_(new QLabel(this)), buttons_(new QHBoxLayout), close_(new QPushButton(this)) {
  setAttribute(Qt::WA_StyledBackground);
  setObjectName("message");
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  close_->setText(QString::fromUtf8("\u2715"));
  close_->setProperty("kind", "quiet");
  close_->setAccessibleName(tr("Close the message"));
  connect(close_, &QPushButton::clicked, this, &QWidget::hide);
  auto* const row = new QHBoxLayout(this);
  row->setContentsMargins(gap * 2, gap, gap, gap);
  row->addWidget(text_, 1);
  row->addLayout(buttons_);
  row->addWidget(close_);
  hide();
  follow_look(this, [this] { show_colours(); });
}

void MessageBar::show_colours() {
  const Theme theme = current_theme();
  const QColor wash = wrong_ ? theme.bad_wash : theme.good_wash;
  setStyleSheet(QString("QWidget#message { background: %1; border-bottom: 1px solid %2; }")
                    .arg(wash.name(), theme.border.name()));
  set_ink(text_, wrong_ ? Ink::bad : Ink::plain);
}

void MessageBar::tell(const QString& text, bool wrong, const std::vector<MessageAction>& actions) {
  while (QLayoutItem* const item = buttons_->takeAt(0)) {
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
  for (const MessageAction& action : actions) {
    auto* const button = new QPushButton(action.title, this);
    connect(button, &QPushButton::clicked, this, [this, run = action.run] {
      hide();
      run();
    });
    buttons_->addWidget(button);
  }
  constexpr qsizetype most = 2000;
  text_->setText(text.size() > most ? text.left(most) + QString::fromUtf8("\u2026") : text);
  text_->setAccessibleName(text);
  wrong_ = wrong;
  show_colours();
  show();
}

}  // namespace stagecraft::gui
