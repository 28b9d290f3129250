#pragma once
// A message at the top of the window that blocks nothing; it may offer actions.

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <functional>
#include <vector>

namespace stagecraft::gui {

struct MessageAction {
  QString title;
  std::function<void()> run;
};

class MessageBar : public QWidget {
  Q_OBJECT

 public:
  explicit MessageBar(QWidget* parent = nullptr);
  /// Replaces what is shown. The bar closes when an action is taken.
  void tell(const QString& text, bool wrong, const std::vector<MessageAction>& actions = {});
  QString text() const { return isHidden() ? QString() : text_->text(); }

 private:
  void show_colours();

  bool wrong_ = false;
  QLabel* text_;
  QHBoxLayout* buttons_;
  QPushButton* close_;
};

}  // namespace stagecraft::gui
