#pragma once

#include <QAbstractButton>

#include "gui/models/headline.hpp"

namespace stagecraft::gui {

/// Where the words of a card stand, none over another.
struct CardLines {
  QRect title, change, value, remark;  // change: empty if there is none
  double value_factor = 1;             // of the font, so that the whole value has room
};

/// Title, value, change against the pinned baseline, remark.
class HeadlineCard : public QAbstractButton {
  Q_OBJECT

 public:
  explicit HeadlineCard(QWidget* parent = nullptr);
  void show_figure(const HeadlineFigure& figure);
  const HeadlineFigure& figure() const { return figure_; }
  void set_stale(bool stale);
  bool stale() const { return stale_; }
  /// A change has room beside the title in a card of this width; else it stands before the remark.
  bool has_room_for_change(int width) const;
  void set_change_below(bool below);
  CardLines lines() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;  // title, change and value can be read

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  HeadlineFigure figure_;
  bool stale_ = false, change_below_ = false;
};

}  // namespace stagecraft::gui
