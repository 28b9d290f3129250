#include "gui/panels/headline_strip.hpp"

#include <QHBoxLayout>

#include "gui/panels/headline_card.hpp"
#include "gui/theme/theme.hpp"

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

HeadlineStrip::HeadlineStrip(QWidget* parent) : QWidget(parent) {
  auto* const row = new QHBoxLayout(this);
  row->setContentsMargins(gap + 4, gap + 2, gap + 4, gap + 2);
  row->setSpacing(gap);
  for (const char* title : titles) {
    auto* const card = new HeadlineCard(this);
    card->show_figure(unknown(title));
    connect(card, &QAbstractButton::clicked, this, [this, card] {
      if (!card->figure().key.isEmpty()) Q_EMIT explain(card->figure().key);
    });
    row->addWidget(card);
    cards_.push_back(card);
  }
}

void HeadlineStrip::show_figures(const std::vector<HeadlineFigure>& figures) {
  for (std::size_t i = 0; i < cards_.size(); ++i)
    cards_[i]->show_figure(i < figures.size() ? figures[i] : unknown(titles[i]));
}

void HeadlineStrip::set_stale(bool stale) {
  for (HeadlineCard* const card : cards_) card->set_stale(stale);
}

}  // namespace stagecraft::gui
