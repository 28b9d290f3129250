// The tests of the GUI run without a display, under one QApplication.
#define CATCH_CONFIG_RUNNER
#include <QApplication>
#include <catch2/catch.hpp>

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("QT_SCALE_FACTOR", "1");
  QApplication application(argc, argv);
  QApplication::setStyle(QStringLiteral("Fusion"));
  return Catch::Session().run(argc, argv);
}
