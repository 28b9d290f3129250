#pragma once

#include <QProgressBar>

namespace stagecraft::gui {

/// A thin bar without words, hidden until something runs; what is below it does not move when it comes and goes.
QProgressBar* make_progress_line(QWidget* parent = nullptr);

}  // namespace stagecraft::gui
