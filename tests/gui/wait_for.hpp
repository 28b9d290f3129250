#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTest>

namespace stagecraft {

/// Runs the event loop until `reached` is true; false if that takes longer than a minute.
template <class Condition>
bool wait_for(Condition reached) {
  QElapsedTimer clock;
  clock.start();
  while (!reached() && clock.elapsed() < 60'000) QTest::qWait(2);
  return reached();
}

}  // namespace stagecraft
