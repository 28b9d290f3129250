// Pictures of a timeline without a display. Set STAGECRAFT_UPDATE_GOLDEN=1 to accept new ones after looking at them.
#include <QCryptographicHash>
#include <QSvgGenerator>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "gui/timeline/paint_timeline.hpp"
#include "gui_traces.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

QImage picture_of(const TimelineView& view, QSize size, double dpr) {
  QImage image(size * dpr, QImage::Format_RGB32);
  image.setDevicePixelRatio(dpr);
  QPainter painter(&image);
  paint_timeline(painter, size, view);
  return image;
}

void check_golden(const QImage& image, const std::string& name) {
  const std::filesystem::path golden =
      std::filesystem::path(STAGECRAFT_SOURCE_DIR) / "tests/golden/gui" / (name + ".png");
  const std::filesystem::path seen = std::filesystem::path(STAGECRAFT_BINARY_DIR) / ("timeline-" + name + ".png");
  REQUIRE(image.save(QString::fromStdString(seen.string())));
  if (std::getenv("STAGECRAFT_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(golden.parent_path());
    REQUIRE(image.save(QString::fromStdString(golden.string())));
  }
  const QImage expected(QString::fromStdString(golden.string()));
  INFO("golden: " << golden.string() << "\nseen: " << seen.string());
  REQUIRE_FALSE(expected.isNull());
  CHECK(image.convertToFormat(QImage::Format_RGB32) == expected.convertToFormat(QImage::Format_RGB32));
}

}  // namespace

TEST_CASE("the picture of a timeline is the same every time") {
  const auto loaded = pipeline_trace(4, 8);
  struct Line {
    const char* name;
    bool dark;
    double dpr;
    bool critical;
  };
  const Line line = GENERATE(Line{"light", false, 1, false}, Line{"dark", true, 1, false},
                             Line{"double", false, 2, false}, Line{"critical", false, 1, true});
  const QSize size(1000, 420);
  TimelineView view = whole_view({{loaded.get(), 0}}, size, line.dark, test_font());
  view.critical_path = line.critical;
  const QImage first = picture_of(view, size, line.dpr);
  CHECK(first == picture_of(view, size, line.dpr));
  check_golden(first, line.name);
}
