#pragma once
// What layouts that only choose the places of their items have in common: they own the items, in their order.

#include <QLayout>
#include <QList>

namespace stagecraft::gui {

class ItemLayout : public QLayout {
 public:
  explicit ItemLayout(int spacing, QWidget* parent) : QLayout(parent) { setSpacing(spacing); }
  ~ItemLayout() override { qDeleteAll(items_); }
  void addItem(QLayoutItem* item) override { items_.append(item); }
  bool hasHeightForWidth() const override { return true; }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override { return index < count() && index >= 0 ? items_.takeAt(index) : nullptr; }

 protected:
  const QList<QLayoutItem*>& items() const { return items_; }

 private:
  QList<QLayoutItem*> items_;
};

}  // namespace stagecraft::gui
