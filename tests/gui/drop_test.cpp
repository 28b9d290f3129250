// Files dropped on the window: each kind lands where opening it from the menu would take it.
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMimeData>
#include <QUrl>
#include <catch2/catch.hpp>

#include "base/file_io.hpp"
#include "opened.hpp"
#include "schedule/csv_text.hpp"
#include "trace/native_format.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

void drop(Opened& opened, const QList<QUrl>& urls) {
  QMimeData data;
  data.setUrls(urls);
  QDragEnterEvent enter(QPoint(40, 40), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(opened.window.get(), &enter);
  REQUIRE(enter.isAccepted());
  QDropEvent event(QPointF(40, 40), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(opened.window.get(), &event);
  opened.settle();
}

QUrl local(const QString& path) {
  return QUrl::fromLocalFile(path);
}

}  // namespace

TEST_CASE("a dropped scenario is opened") {
  Opened opened;
  drop(opened, {local(scenarios + "tiny-gpt-2cores.json")});
  REQUIRE(opened.window->evaluator().report() != nullptr);
  CHECK(opened.window->evaluator().report()->scenario == "tiny-gpt-2cores");
}

TEST_CASE("a dropped trace lays itself over the prediction, a dropped schedule is shown") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  Trace measured = opened.window->evaluator().trace()->trace;
  measured.kind = "measured";
  const QString trace = opened.folder.filePath("measured.sgt"), csv = opened.folder.filePath("mine.csv");
  write_trace(measured, trace.toStdString());
  drop(opened, {local(trace)});
  CHECK(opened.window->measured() != nullptr);
  CHECK(opened.window->shown_view() == ViewTab::compare);

  write_file_whole(csv.toStdString(), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  drop(opened, {local(csv)});
  CHECK(opened.window->shown_view() == ViewTab::schedule);
  CHECK(to_csv(opened.window->schedule_panel().grid().schedule()).starts_with("0F0,0F1,0B0,0B1"));
}

TEST_CASE("what is dropped and cannot be opened is told, and a web address is let alone") {
  Opened opened(scenarios + "tiny-gpt-2cores.json");
  const std::string text = opened.window->document().text();
  const QString picture = opened.folder.filePath("a.png");
  write_file_whole(picture.toStdString(), "\x89PNG");
  drop(opened, {local(picture), QUrl("https://example.org/a.json")});
  CHECK_FALSE(opened.window->message_bar().text().isEmpty());
  CHECK(opened.window->document().text() == text);
}
