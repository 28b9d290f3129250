#pragma once
// Cards of one size: all of them side by side, or in as many lines as the narrowest card that can be read asks for.

#include <QLayout>
#include <QList>

namespace stagecraft::gui {

class CardGrid : public QLayout {
  Q_OBJECT

 public:
  explicit CardGrid(int spacing, QWidget* parent = nullptr);
  ~CardGrid() override;
  void addItem(QLayoutItem* item) override { items_.append(item); }
  Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override { return index < count() && index >= 0 ? items_.takeAt(index) : nullptr; }
  QSize minimumSize() const override;
  QSize sizeHint() const override;
  void setGeometry(const QRect& rect) override;
  /// Of a card, where the whole is `width` wide.
  int card_width(int width) const;

 private:
  int columns(int width) const;  // a divisor of their number, so that every line is full
  QSize least() const;           // of the card that needs most
  int room(int width) const;     // between the margins

  QList<QLayoutItem*> items_;
};

}  // namespace stagecraft::gui
