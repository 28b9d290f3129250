#include "gui/theme/progress_line.hpp"

namespace stagecraft::gui {

QProgressBar* make_progress_line(QWidget* parent) {
  auto* const line = new QProgressBar(parent);
  line->setTextVisible(false);
  line->setFixedHeight(4);
  QSizePolicy keeps_place = line->sizePolicy();
  keeps_place.setRetainSizeWhenHidden(true);
  line->setSizePolicy(keeps_place);
  line->hide();
  return line;
}

}  // namespace stagecraft::gui
