// The models behind the form: values with their origin, problems with fixes, undo, figures against a baseline.
#include <QAbstractItemModelTester>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "gui/models/allowed_values.hpp"
#include "gui/models/breakdown_model.hpp"
#include "gui/models/evaluation.hpp"
#include "gui/models/form_model.hpp"
#include "gui/models/headline.hpp"
#include "gui/models/json_edit.hpp"
#include "gui/models/problem.hpp"
#include "gui/models/scenario_document.hpp"
#include "gui/panels/form_panel.hpp"
#include "report/explain.hpp"
#include "report/figures.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

const std::string scenarios = STAGECRAFT_SOURCE_DIR "/scenarios/";

Library library() {
  return default_library("");
}

std::vector<FormField> fields() {
  return form_fields(known_names(library()));
}

const FormField& field(const std::vector<FormField>& all, const std::string& pointer) {
  return *std::find_if(all.begin(), all.end(), [&](const FormField& one) { return one.pointer == pointer; });
}

Evaluation evaluated(const std::string& text, const std::string& path = scenarios + "x.json") {
  return evaluate(text, path, library());
}

std::string shipped(const std::string& name) {
  return read_file(scenarios + name);
}

bool offers(const std::vector<Problem>& problems, const std::string& pointer, const std::string& value) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
    return problem.pointer == pointer &&
           std::find(problem.offers.begin(), problem.offers.end(), value) != problem.offers.end();
  });
}

}  // namespace

TEST_CASE("the form has every scalar setting of the schema, each with a description") {
  const std::vector<FormField> all = fields();
  for (const char* pointer : {"/model/extends", "/cluster/nodes", "/parallel/tensor", "/parallel/data", "/batch/micro",
                              "/schedule/name", "/precision", "/overlap/tensor", "/gradient_bucket", "/steps"}) {
    CAPTURE(pointer);
    REQUIRE(std::any_of(all.begin(), all.end(), [&](const FormField& one) { return one.pointer == pointer; }));
    CHECK_FALSE(field(all, pointer).description.empty());
  }
  CHECK(field(all, "/parallel/tensor").maximum == 1024);
  CHECK(field(all, "/recompute").choices == std::vector<std::string>{"none", "selective", "full", "per_op"});
  CHECK(field(all, "/gradient_bucket").kind == FieldKind::quantity);
  CHECK(field(all, "/overlap/tensor").kind == FieldKind::boolean);
}

TEST_CASE("a value is shown with the file or the reason that it comes from") {
  const std::string path = scenarios + "lessons/04-1f1b-32-micro-batches.json";
  const std::string text = read_file(path);
  const Evaluation evaluation = evaluate(text, path, library());
  REQUIRE(evaluation.scenario);
  const auto values = field_values(text, path, fields(), &*evaluation.scenario, library());
  CHECK(values.at("/schedule/name").text == "1f1b");
  CHECK(values.at("/schedule/name").origin == ValueOrigin::here);
  CHECK(values.at("/parallel/pipeline").origin == ValueOrigin::inherited);
  CHECK(values.at("/overlap/tensor").origin == ValueOrigin::chosen);
  CHECK(values.at("/overlap/tensor").text == "false");
  CHECK(values.at("/schedule/csv").origin == ValueOrigin::absent);
}

TEST_CASE("lists of numbers and of words are fields too") {
  const std::vector<FormField> all = fields();
  const FormField &partition = field(all, "/parallel/partition"), &modules = field(all, "/recompute_modules");
  CHECK(literal_of(partition, "uniform") == "\"uniform\"");
  CHECK(literal_of(partition, "9, 10,10 9") == "[9, 10, 10, 9]");
  CHECK(literal_of(partition, "[3, x]") == "[3, \"x\"]");
  CHECK(literal_of(modules, "norms, mlp") == "[\"norms\", \"mlp\"]");
  CHECK(modules.default_text == "core_attention");
  const std::string path = scenarios + "lessons/09-unbalanced-partition.json", text = read_file(path);
  const auto values = field_values(text, path, all, nullptr, library());
  CHECK(values.at("/parallel/partition").text == "3, 3, 3, 15");
  const std::string even = with_value(text, "/parallel/partition", literal_of(partition, "6, 6, 6, 6"));
  const Evaluation before = evaluate(text, path, library()), after = evaluate(even, path, library());
  REQUIRE(before.done);
  REQUIRE(after.done);
  CHECK(after.done->report.step_time_s.value < 0.5 * before.done->report.step_time_s.value);
}

TEST_CASE("whatever is typed into a number is a number of JSON or a string") {
  const std::vector<FormField> all = fields();
  const FormField &length = field(all, "/sequence_length"), &partition = field(all, "/parallel/partition");
  for (const char* number : {"8", "-1", "1e3", "2.5", "0", "1E-3"}) CHECK(literal_of(length, number) == number);
  for (const char* none : {"1e", "2.", "01", "+2", "--1", "-", "1 2", " 8", "8 ", "1e999", "0x10", ".5", "1,2", "NaN"})
    CHECK(literal_of(length, none) == json_string(none));
  CHECK(literal_of(partition, "1e,2 01") == "[\"1e\", 2, \"01\"]");
}

TEST_CASE("fields of the model show what the library says") {
  const std::string path = scenarios + "llama-3-8b-one-node.json";
  const auto values = field_values(read_file(path), path, fields(), nullptr, library());
  CHECK(values.at("/model/extends").text == "llama-3-8b");
  CHECK(values.at("/model/hidden").text == "4096");
  CHECK(values.at("/model/hidden").origin == ValueOrigin::library);
  CHECK(values.at("/cluster/nodes").text == "1");
  CHECK(values.at("/cluster/nodes").origin == ValueOrigin::here);
}

TEST_CASE("a tensor degree that does not divide the heads is refused with values that would work") {
  const std::string text = with_value(shipped("gpt-145b-selene.json"), "/parallel/tensor", "7");
  const std::vector<Problem> problems = problems_of(evaluated(text));
  CHECK(offers(problems, "/parallel/tensor", "6"));
  CHECK(offers(problems, "/parallel/tensor", "8"));
}

TEST_CASE("what the reader refuses is told at its field") {
  const std::string text = with_value(shipped("tiny-gpt-2cores.json"), "/precision", "\"fp33\"");
  const std::vector<Problem> problems = problems_of(evaluated(text));
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().pointer == "/precision");
  CHECK(offers(problems, "/precision", "fp32"));
}

TEST_CASE("nearest values are told apart from advice") {
  CHECK(offered_values("6 or 8") == std::vector<std::string>{"6", "8"});
  CHECK(offered_values("\"fp32\"") == std::vector<std::string>{"fp32"});
  CHECK(offered_values("160 MB") == std::vector<std::string>{"160 MB"});
  CHECK(offered_values("9 micro-batches").empty());
  CHECK(offered_values("").empty());
}

TEST_CASE("the values that would work now are those that the checks let pass") {
  const std::string path = scenarios + "llama-3-8b-one-node.json";
  const AllowedValues allowed =
      allowed_values(read_file(path), path, field(fields(), "/parallel/tensor"), "4", library(), nullptr);
  REQUIRE(allowed.judged);
  // 32 heads and 8 key-value heads on eight GPUs: a power of two up to eight.
  CHECK(allowed.values == std::vector<std::string>{"1", "2", "4", "8"});
}

TEST_CASE("edits are undone and redone, and typing on in one field is one step") {
  ScenarioDocument document;
  const std::string text = shipped("llama-3-8b-one-node.json");
  document.start(text, scenarios + "llama-3-8b-one-node.json");
  const std::vector<FormField> all = fields();
  document.set_field(field(all, "/batch/global"), "1");
  document.set_field(field(all, "/batch/global"), "12");
  document.set_field(field(all, "/batch/global"), "128");
  document.set_field(field(all, "/recompute"), "full");
  CHECK(document.modified());
  CHECK(document.undo_stack().count() == 2);
  document.undo_stack().undo();
  CHECK(value_at(document.text(), "/recompute") == "\"selective\"");
  document.undo_stack().undo();
  CHECK(document.text() == text);
  CHECK_FALSE(document.modified());
  document.undo_stack().redo();
  CHECK(value_at(document.text(), "/batch/global") == "128");
}

TEST_CASE("edits of one field after a pause are steps of their own, and a step has the title of its last value") {
  ScenarioDocument document;
  document.start(shipped("llama-3-8b-one-node.json"), scenarios + "llama-3-8b-one-node.json");
  const std::vector<FormField> all = fields();
  document.set_field(field(all, "/batch/global"), "1");
  document.set_field(field(all, "/batch/global"), "128");
  CHECK(document.undo_stack().undoText().toStdString() == field(all, "/batch/global").title + ": 128");
  QTest::qWait(1100);
  document.set_field(field(all, "/batch/global"), "64");
  CHECK(document.undo_stack().count() == 2);
  document.undo_stack().undo();
  CHECK(value_at(document.text(), "/batch/global") == "128");
}

TEST_CASE("whole texts that follow each other are steps of their own") {
  ScenarioDocument document;
  document.start("{}", "a.json");
  document.replace_text("{\"steps\": 1}", "Point 1");
  document.replace_text("{\"steps\": 2}", "Point 2");
  CHECK(document.undo_stack().count() == 2);
}

TEST_CASE("an edit that would leave no JSON is refused, as is one of no scenario, and the text stays") {
  ScenarioDocument document;
  const std::vector<FormField> all = fields();
  CHECK_THROWS_AS(document.set_field(field(all, "/steps"), "1"), InputError);
  CHECK_THROWS_AS(document.reset_field(field(all, "/steps")), InputError);
  CHECK_FALSE(document.is_open());
  document.start("{}", "a.json");
  CHECK_THROWS_AS(document.replace_text("{\"steps\": 1e}", "broken"), InputError);
  CHECK(document.text() == "{}");
  CHECK_FALSE(document.modified());
}

TEST_CASE("a file with a byte order mark is edited like any other") {
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(with_value(mark + "{\"steps\": 1}", "/steps", "2") == mark + "{\"steps\": 2}");
  CHECK(without_value(mark + "{\"steps\": 1, \"x\": 2}", "/steps") == mark + "{\"x\": 2}");
  CHECK(value_at(mark + "{\"steps\": 1}", "/steps") == "1");
}

TEST_CASE("saving keeps what the form does not know, also its layout") {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("mine.json").toStdString();
  const std::string text = "{\n  \"model\":   \"tiny-gpt\",\n\n  \"cluster\": \"host-2core\", \"published\": []\n}";
  write_file_whole(path, text);
  ScenarioDocument document;
  document.open(path);
  document.set_field(field(fields(), "/parallel/pipeline"), "2");
  document.save(path);
  CHECK(read_file(path) ==
        "{\n  \"model\":   \"tiny-gpt\",\n\n  \"cluster\": \"host-2core\", \"published\": [],\n  \"parallel\": "
        "{\"pipeline\": 2}\n}");
  CHECK_FALSE(document.modified());
}

TEST_CASE("a scenario saved in another folder still finds what it extends") {
  const QTemporaryDir folder;
  ScenarioDocument document;
  document.open(scenarios + "lessons/04-1f1b-32-micro-batches.json");
  const std::string path = folder.filePath("mine.json").toStdString();
  document.save(path);
  CHECK(evaluate(read_file(path), path, library()).done != nullptr);
}

TEST_CASE("a file that is no scenario is refused and the open one stays") {
  const QTemporaryDir folder;
  ScenarioDocument document;
  document.start("{}", "a.json");
  for (const char* text : {"", "[]", "{\"a\":", "\xff\xfe", "{\"a\": 1, \"a\": 2}"}) {
    const std::string path = folder.filePath("bad.json").toStdString();
    write_file_whole(path, text);
    CHECK_THROWS_AS(document.open(path), InputError);
    CHECK(document.path() == "a.json");
  }
}

TEST_CASE("the form model keeps the rules of item models") {
  FormModel model(fields());
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const std::string path = scenarios + "gpt-145b-selene.json";
  const std::string text = with_value(read_file(path), "/parallel/tensor", "7");
  const Evaluation evaluation = evaluate(text, path, library());
  model.set_values(field_values(text, path, model.fields(), &*evaluation.scenario, library()));
  model.set_problems(problems_of(evaluation));
  CHECK(model.rowCount() == static_cast<int>(model.fields().size()));
  for (int row = 0; row < model.rowCount(); ++row) {
    const QModelIndex index = model.index(row);
    if (index.data(FormModel::pointer_role).toString() != "/parallel/tensor") continue;
    CHECK(index.data(FormModel::value_role).toString() == "7");
    CHECK(index.data(FormModel::offers_role).toStringList() == QStringList{"6", "8", "4"});
  }
}

TEST_CASE("the breakdown adds up to the step and to 100 percent") {
  const Evaluation evaluation = evaluated(shipped("gpt-145b-selene.json"));
  REQUIRE(evaluation.done);
  BreakdownModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const Report& report = evaluation.done->report;
  model.set_report(&report, nullptr);
  REQUIRE(model.rowCount() == static_cast<int>(model.classes().size()) + 1);
  double share = 0;
  for (std::size_t i = 0; i < model.classes().size(); ++i)
    share += model.index(static_cast<int>(i), 0).data(BreakdownModel::share_role).toDouble();
  CHECK(share == Approx(1).epsilon(1e-12));
  CHECK(total(report.critical_path) == Approx(report.step_time_s.value));
  const QModelIndex sum = model.index(model.rowCount() - 1, BreakdownModel::path_share);
  CHECK(sum.data().toString() == "100.0 %");
  CHECK(model.key_of(model.index(0, BreakdownModel::path_s)) == "critical_path.forward.time_s");
  model.set_report(nullptr, nullptr);
  CHECK(model.rowCount() == 0);
}

TEST_CASE("the headline tells better from worse against a pinned baseline") {
  const std::string text = shipped("gpt-145b-selene.json");
  const Evaluation before = evaluated(text);
  const Evaluation after = evaluated(with_value(text, "/recompute", "\"none\""));
  REQUIRE((before.done && after.done));
  const auto alone = headline(before.done->report, nullptr);
  REQUIRE(alone.size() == 6);
  CHECK(alone[0].change.isEmpty());
  const auto compared = headline(after.done->report, &before.done->report);
  CHECK(compared[0].trend == Trend::better);  // nothing is computed twice
  CHECK(compared[2].trend == Trend::better);  // so the model FLOP/s rise
  CHECK(compared[5].trend == Trend::worse);   // and activations stay
  CHECK(compared[5].alarm == !after.done->report.fits);
  CHECK(explanation(alone[4].key.toStdString(), before.done->report).inputs.size() == exposed_classes.size());
  for (const HeadlineFigure& figure : alone) {
    CAPTURE(figure.title.toStdString());
    CHECK_NOTHROW(explanation(figure.key.toStdString(), before.done->report));
  }
  const auto same = headline(before.done->report, &before.done->report);
  CHECK(same[0].trend == Trend::none);
}

TEST_CASE("hostile scenarios end in problems, never in an exception") {
  for (const char* text :
       {"", "null", "{}", "{\"model\": 5}", "{\"model\": \"../../etc/passwd\", \"cluster\": \"selene\"}",
        "{\"extends\": \"x.json\"}",
        "{\"model\": \"gpt-145b\", \"cluster\": \"selene\", \"batch\": {\"global\": 1e300}}",
        "{\"model\": \"gpt-145b\", \"cluster\": \"selene\", \"parallel\": {\"tensor\": -9223372036854775808}}"}) {
    CAPTURE(text);
    const Evaluation evaluation = evaluated(text);
    CHECK(evaluation.done == nullptr);
    CHECK_FALSE(problems_of(evaluation).empty());
    CHECK_NOTHROW(field_values(text, "x.json", fields(), nullptr, library()));
  }
}
