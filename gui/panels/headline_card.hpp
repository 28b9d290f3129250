#pragma once

#include <QAbstractButton>

#include "gui/models/headline.hpp"

namespace stagecraft::gui {

/// Title, value, change against the pinned baseline, remark.
class HeadlineCard : public QAbstractButton {
  Q_OBJECT

 public:
  explicit HeadlineCard(QWidget* parent = nullptr);
  void show_figure(const HeadlineFigure& figure);
  const HeadlineFigure& figure() const { return figure_; }
  void set_stale(bool stale);
  bool stale() const { return stale_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  HeadlineFigure figure_;
  bool stale_ = false;
};

}  // namespace stagecraft::gui
