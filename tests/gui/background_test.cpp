// Jobs beside the window: one at a time, replaced, cancelled, stopped.
#include "gui/models/background.hpp"

#include <QThread>
#include <catch2/catch.hpp>
#include <memory>

#include "wait_for.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

/// Runs until it is told to end.
void obey(const std::atomic<bool>& cancel) {
  while (!cancel) QThread::msleep(1);
}

}  // namespace

TEST_CASE("what follows a job runs on the caller's thread, once what the job held is gone") {
  Background background;
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = held;
  bool followed = false;
  const QThread* const here = QThread::currentThread();
  background.run([held = std::move(held)](const std::atomic<bool>&) { ++*held; },
                 [&] { followed = watch.expired() && QThread::currentThread() == here; });
  CHECK(background.busy());
  wait_for([&] { return !background.busy(); });
  CHECK(followed);
}

TEST_CASE("a newer job replaces the one that runs and the one that waits, and jobs never overlap") {
  Background background;
  std::atomic<int> running = 0, most = 0;
  std::string followed;
  const auto run = [&](char name, bool waits) {
    background.run(
        [&, waits](const std::atomic<bool>& cancel) {
          most = std::max<int>(most, ++running);
          if (waits) obey(cancel);
          --running;
        },
        [&followed, name] { followed += name; });
  };
  run('a', true);
  run('b', true);
  run('c', false);
  wait_for([&] { return !background.busy(); });
  CHECK(followed == "c");
  CHECK(most == 1);
}

TEST_CASE("after stop no work runs, nothing follows, and the next job follows as ever") {
  Background background;
  std::atomic<bool> ended = false;
  std::string followed;
  for (const bool obeys : {true, false}) {
    ended = false;
    background.run(
        [&, obeys](const std::atomic<bool>& cancel) {
          if (obeys) obey(cancel);
          ended = true;
        },
        [&] { followed += "stopped"; });
    background.stop();
    CHECK(ended);
    CHECK_FALSE(background.busy());
  }
  background.run([](const std::atomic<bool>&) {}, [&] { followed += "next"; });
  wait_for([&] { return !background.busy(); });
  CHECK(followed == "next");
}

TEST_CASE("a job that is still at work when its owner goes is cancelled and waited for") {
  std::atomic<bool> ended = false;
  {
    Background background;
    background.run(
        [&](const std::atomic<bool>& cancel) {
          obey(cancel);
          ended = true;
        },
        [&] { FAIL("its owner is gone"); });
  }
  CHECK(ended);
}
