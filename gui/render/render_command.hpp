#pragma once
// `stagecraft-gui --render VIEW FILE --output PICTURE`: a view of a file, drawn without a display.

#include <QApplication>
#include <QSize>
#include <QString>
#include <QStringList>
#include <string>
#include <vector>

#include "spec/scenario.hpp"

namespace stagecraft::gui {

struct RenderRequest {
  QString view, file, output, against;
  QSize size{1600, 900};
  bool size_given = false;  // else a timeline is as high as its rows
  double scale = 1;
  bool dark = false, simulate = false;
  std::vector<std::string> overrides;  // as --set takes them
};

QStringList render_views();

/// The words behind --render. Throws InputError.
RenderRequest parse_render(const QStringList& words);

/// Before QApplication: chooses the platform that needs no display, and forgets settings of the environment that would
/// change the picture.
void prepare_offscreen();

/// Throws InputError for anything that cannot be drawn.
void render(QApplication& application, const RenderRequest& request, const Library& library);

}  // namespace stagecraft::gui
