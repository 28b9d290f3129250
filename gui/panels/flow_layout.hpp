#pragma once
// Lines of widgets that break where the width ends; those that expand share what is left of their line.

#include <QLayout>
#include <QList>

namespace stagecraft::gui {

class FlowLayout : public QLayout {
  Q_OBJECT

 public:
  explicit FlowLayout(int spacing, QWidget* parent = nullptr);
  ~FlowLayout() override;
  void addItem(QLayoutItem* item) override { items_.append(item); }
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return arrange(QRect(0, 0, width, 0), false); }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override { return index < count() && index >= 0 ? items_.takeAt(index) : nullptr; }
  QSize minimumSize() const override;
  QSize sizeHint() const override { return minimumSize(); }
  void setGeometry(const QRect& rect) override;

 private:
  int arrange(const QRect& rect, bool place) const;  // height

  QList<QLayoutItem*> items_;
};

}  // namespace stagecraft::gui
