#include "gui/render/picture.hpp"

#include <QApplication>
#include <QBuffer>
#include <QFontMetrics>
#include <QImage>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QSvgGenerator>
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "gui/timeline/paint_timeline.hpp"

namespace stagecraft::gui {
namespace {

void write_bytes(const QString& path, const QByteArray& bytes) {
  write_file_whole(path.toStdString(), {bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

/// `draw` gets a painter of `size` logical pixels.
void write_picture(const QString& path, QSize size, double scale, const std::function<void(QPainter&)>& draw) {
  require_fonts();
  if (!path.endsWith(".png", Qt::CaseInsensitive) && !path.endsWith(".svg", Qt::CaseInsensitive))
    throw InputError(
        InputProblem{path.toStdString(), 0, 0, "", "a picture of this kind", "a name that ends in .png or .svg", ""});
  QBuffer bytes;
  bytes.open(QIODevice::WriteOnly);
  if (path.endsWith(".svg", Qt::CaseInsensitive)) {
    QSvgGenerator svg;
    svg.setOutputDevice(&bytes);
    svg.setSize(size);
    svg.setViewBox(QRect(QPoint(0, 0), size));
    svg.setTitle("Stagecraft");
    QPainter painter(&svg);
    draw(painter);
    painter.end();
  } else {
    QImage image((QSizeF(size) * scale).toSize(), QImage::Format_RGB32);
    if (image.isNull())
      throw InputError(InputProblem{path.toStdString(), 0, 0, "", "a picture too large to hold", "a smaller size", ""});
    image.setDevicePixelRatio(scale);
    image.fill(Qt::white);
    QPainter painter(&image);
    draw(painter);
    painter.end();
    image.save(&bytes, "PNG");
  }
  write_bytes(path, bytes.data());
}

constexpr int highest = 8000;  // of a picture that is as high as its rows

/// A page while it is as high as what is scrolled on it asks for, without the bars that scroll.
class Unrolled {
 public:
  explicit Unrolled(QWidget& page) : page_(page), before_(page.geometry()) {
    constexpr int turns = 8;  // what is higher may be wider, and need another height
    for (QSplitter* const splitter : page.findChildren<QSplitter*>())
      splitters_.emplace_back(splitter, splitter->sizes());
    for (QScrollArea* const area : page.findChildren<QScrollArea*>()) {
      areas_.push_back({area, area->verticalScrollBar()->value(), area->verticalScrollBarPolicy()});
      area->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    }
    for (int turn = 0; turn < turns; ++turn) {
      bool grown = false;
      for (const Scrolled& one : areas_) grown = grow(*one.area) || grown;
      if (!grown) break;
    }
  }
  ~Unrolled() {
    page_.setGeometry(before_);
    for (const auto& [splitter, sizes] : splitters_) splitter->setSizes(sizes);
    for (const Scrolled& one : areas_) {
      one.area->setVerticalScrollBarPolicy(one.bar);
      one.area->verticalScrollBar()->setValue(one.place);
    }
  }
  Unrolled(const Unrolled&) = delete;
  Unrolled& operator=(const Unrolled&) = delete;

 private:
  struct Scrolled {
    QScrollArea* area;
    int place;
    Qt::ScrollBarPolicy bar;
  };

  /// False if it shows all that is on it.
  bool grow(QScrollArea& area) {
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
    const int missing = std::min(area.widget()->height() - area.viewport()->height(), highest - page_.height());
    if (!area.isVisibleTo(&page_) || missing <= 0) return false;
    auto* const splitter = qobject_cast<QSplitter*>(area.parentWidget());
    const bool down = splitter != nullptr && splitter->orientation() == Qt::Vertical;
    QList<int> sizes = down ? splitter->sizes() : QList<int>();
    page_.resize(page_.width(), page_.height() + missing);
    if (!down) return true;
    sizes[splitter->indexOf(&area)] += missing;
    splitter->setSizes(sizes);
    return true;
  }

  QWidget& page_;
  QRect before_;
  std::vector<std::pair<QSplitter*, QList<int>>> splitters_;
  std::vector<Scrolled> areas_;
};

}  // namespace

void require_fonts() {
  // Without fonts there still are families (Serif, Monospace), of which every letter is an empty box.
  if (QFontMetrics(QApplication::font()).inFont(QChar('A'))) return;
  throw InputError(InputProblem{"", 0, 0, "", "no font is installed, so that every letter would be an empty box",
                                "a font, on Debian: apt install fonts-dejavu-core", ""});
}

void write_widget_picture(QWidget& widget, const QString& path, double scale) {
  write_picture(path, widget.size(), scale, [&](QPainter& painter) {
    widget.render(&painter, {}, {}, QWidget::DrawWindowBackground | QWidget::DrawChildren);
  });
}

void write_page_picture(QWidget& page, const QString& path, double scale) {
  const Unrolled unrolled(page);
  write_widget_picture(page, path, scale);
}

void write_timeline_picture(const TimelineView& view, const QString& path, double scale) {
  const QSize size(view.label_width + static_cast<int>(view.axis.width), std::clamp(full_height(view), 120, highest));
  TimelineView whole = view;
  whole.scroll_y = 0;
  write_picture(path, size, scale, [&](QPainter& painter) { paint_timeline(painter, size, whole); });
}

QSize with_every_row(const std::vector<Source>& sources, QSize least) {
  const int full = full_height(whole_view(sources, least, false, QApplication::font()));
  return {least.width(), std::clamp(full, least.height(), highest)};
}

void write_whole_timeline(const std::vector<Source>& sources, QSize size, bool dark, const QString& path,
                          double scale) {
  const TimelineView view = whole_view(sources, size, dark, QApplication::font());
  write_picture(path, size, scale, [&](QPainter& painter) { paint_timeline(painter, size, view); });
}

}  // namespace stagecraft::gui
