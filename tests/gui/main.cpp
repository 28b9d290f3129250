// The tests of the GUI run without a display, under one QApplication; $STAGECRAFT_TEST_PLATFORM names another platform.
#define CATCH_CONFIG_RUNNER
#include <QApplication>
#include <catch2/catch.hpp>

int main(int argc, char** argv) {
  const QByteArray platform = qgetenv("STAGECRAFT_TEST_PLATFORM");
  qputenv("QT_QPA_PLATFORM", platform.isEmpty() ? QByteArray("offscreen") : platform);
  qputenv("QT_SCALE_FACTOR", "1");
  QApplication application(argc, argv);
  QApplication::setStyle(QStringLiteral("Fusion"));
  return Catch::Session().run(argc, argv);
}
