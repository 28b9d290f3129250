#pragma once
// Pictures of views as files, PNG or SVG by their ending, written whole or not at all, the same bytes every time.

#include <QString>
#include <QWidget>

#include "gui/timeline/timeline_view.hpp"

namespace stagecraft::gui {

/// The widget as it stands, at `scale` device pixels per logical one. Throws InputError.
void write_widget_picture(QWidget& widget, const QString& path, double scale = 1);

/// The same, as high as what is scrolled on it asks for, up to 8000 pixels. Throws InputError.
void write_page_picture(QWidget& page, const QString& path, double scale = 1);

/// The timeline as it stands. Throws InputError.
void write_timeline_picture(const TimelineView& view, const QString& path, double scale = 1);

/// `least`, made as high as all rows ask for, up to 8000 pixels.
QSize with_every_row(const std::vector<Source>& sources, QSize least);

/// The whole of traces, as they are first shown, with a heading and a legend.
void write_whole_timeline(const std::vector<Source>& sources, QSize size, bool dark, const QString& path, double scale);

/// Throws InputError if no font is installed: Qt would draw empty boxes and say nothing.
void require_fonts();

}  // namespace stagecraft::gui
