#pragma once
// The headline figures of a scenario as a row of cards; a click explains one.

#include <QWidget>

#include "gui/models/headline.hpp"

namespace stagecraft::gui {

class CardGrid;
class HeadlineCard;

class HeadlineStrip : public QWidget {
  Q_OBJECT

 public:
  explicit HeadlineStrip(QWidget* parent = nullptr);
  void show_figures(const std::vector<HeadlineFigure>& figures);  // empty: dashes
  void set_stale(bool stale);                                     // dimmed

 Q_SIGNALS:
  void explain(const QString& key);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void place_changes();

  CardGrid* grid_;
  std::vector<HeadlineCard*> cards_;
};

}  // namespace stagecraft::gui
