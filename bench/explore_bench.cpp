// From a change in the form to the new figures, in the window, with p = 16 pipeline ranks and m = 128 micro-batches.
#include <QApplication>
#include <QElapsedTimer>
#include <algorithm>
#include <vector>

#include "figure.hpp"
#include "gui/window/main_window.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

constexpr int changes = 31;
constexpr double limit_s = 0.050;

const char* const scenario = R"({
  "name": "explore", "model": "gpt-145b", "cluster": {"extends": "selene", "nodes": 128},
  "parallel": {"tensor": 8, "pipeline": 16, "data": 8}, "batch": {"global": 1024, "micro": 1},
  "schedule": "1f1b", "recompute": "full", "precision": "fp16_mixed"
})";

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const bool json = bench::wants_json(argc, argv);
  QApplication application(argc, argv);
  apply_theme(application, make_theme(false));
  MainWindow window(default_library(""));
  window.evaluator().set_simulating(false);
  window.resize(1600, 900);
  window.show();
  bool done = false;
  QObject::connect(&window.evaluator(), &Evaluator::evaluated, &window, [&] { done = true; });
  const auto wait = [&] {
    while (!done) application.processEvents(QEventLoop::WaitForMoreEvents);
    done = false;
  };
  window.document().start(scenario, "explore.json");
  wait();
  application.processEvents();
  if (window.evaluator().report() == nullptr) return 1;

  const FormField& field = *window.form().model().find("/recompute");
  std::vector<double> shown, closed_form;
  for (int i = 0; i < changes; ++i) {
    QElapsedTimer clock;
    clock.start();
    window.document().set_field(field, i % 2 == 0 ? "selective" : "full");
    wait();
    window.headline_strip().repaint();
    shown.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e9);
    closed_form.push_back(window.evaluator().evaluation()->seconds);
    application.processEvents();
  }
  const auto median = [](std::vector<double> seconds) {
    std::nth_element(seconds.begin(), seconds.begin() + changes / 2, seconds.end());
    return seconds[changes / 2];
  };
  bench::print({"explore/change-to-figures-p16-m128", median(shown), "s", limit_s, "limit"}, json);
  bench::print({"explore/change-to-figures-p16-m128-worst", *std::max_element(shown.begin(), shown.end()), "s", limit_s,
                "limit"},
               json);
  bench::print({"explore/closed-form-p16-m128", median(closed_form), "s", limit_s, "limit"}, json);
  return 0;
}
