#include "gui/panels/tall_page.hpp"

#include <QLayout>

namespace stagecraft::gui {
namespace {

/// Asks the scroll area for the height that its lines need at this width, not for the one that they like.
class Content : public QWidget {
 public:
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return layout()->totalMinimumHeightForWidth(width); }
};

}  // namespace

QScrollArea* make_tall_page(QLayout* layout, QWidget* parent) {
  auto* const content = new Content;
  content->setObjectName("page");
  content->setLayout(layout);
  auto* const area = new QScrollArea(parent);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setFocusPolicy(Qt::NoFocus);
  area->setWidget(content);
  return area;
}

}  // namespace stagecraft::gui
