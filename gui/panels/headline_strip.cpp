#include "gui/panels/headline_strip.hpp"

#include <algorithm>

#include "gui/panels/card_grid.hpp"
#include "gui/panels/headline_card.hpp"
#include "gui/theme/look.hpp"

namespace stagecraft::gui {
namespace {

constexpr const char* titles[] = {"Step time", "Tokens/s", "MFU", "Bubble", "Exposed comm.", "Peak memory"};

HeadlineFigure unknown(const char* title) {
  HeadlineFigure figure;
  figure.title = title;
  figure.value = QString::fromUtf8("\u2013");
  return figure;
}

}  // namespace

HeadlineStrip::HeadlineStrip(QWidget* parent) : QWidget(parent), grid_(new CardGrid(gap, this)) {
  grid_->setContentsMargins(gap + 2, gap, gap + 2, gap);
  for (const char* title : titles) {
    auto* const card = new HeadlineCard(this);
    card->show_figure(unknown(title));
    connect(card, &QAbstractButton::clicked, this, [this, card] {
      if (!card->figure().key.isEmpty()) Q_EMIT explain(card->figure().key);
    });
    grid_->addWidget(card);
    cards_.push_back(card);
  }
  follow_look(this, [this] {
    for (HeadlineCard* const card : cards_) card->updateGeometry();
    place_changes();
  });
}

void HeadlineStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  place_changes();
}

/// In all cards at the same place.
void HeadlineStrip::place_changes() {
  const int width = grid_->card_width(this->width());
  const bool below = std::any_of(cards_.begin(), cards_.end(),
                                 [&](const HeadlineCard* card) { return !card->has_room_for_change(width); });
  for (HeadlineCard* const card : cards_) card->set_change_below(below);
}

void HeadlineStrip::show_figures(const std::vector<HeadlineFigure>& figures) {
  for (std::size_t i = 0; i < cards_.size(); ++i)
    cards_[i]->show_figure(i < figures.size() ? figures[i] : unknown(titles[i]));
  place_changes();
}

void HeadlineStrip::set_stale(bool stale) {
  for (HeadlineCard* const card : cards_) card->set_stale(stale);
}

}  // namespace stagecraft::gui
