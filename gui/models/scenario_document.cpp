#include "gui/models/scenario_document.hpp"

#include <QFileInfo>
#include <QUndoCommand>
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/file_io.hpp"
#include "base/json_reader.hpp"
#include "gui/models/field_values.hpp"
#include "gui/models/json_edit.hpp"
#include "gui/models/scenario_keys.hpp"
#include "spec/library.hpp"

namespace stagecraft::gui {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds pause_between_steps{1000};  // of undo

void check_is_object(const std::string& text, const std::string& path) {
  const JsonDocument document = JsonDocument::from_text(text, path);
  if (!document.root().is(JsonKind::object)) document.root().fail("an object");
}

}  // namespace

/// The text before and after; edits of one field that follow each other quickly are one.
class EditText : public QUndoCommand {
 public:
  /// `pointer` is the field's; "" never merges.
  EditText(ScenarioDocument& document, std::string before, std::string after, const QString& title, std::string pointer)
      : QUndoCommand(title),
        document_(document),
        before_(std::move(before)),
        after_(std::move(after)),
        pointer_(std::move(pointer)) {}

  void undo() override { document_.set_text(before_); }
  void redo() override { document_.set_text(after_); }
  int id() const override { return pointer_.empty() ? -1 : 1; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* const next = static_cast<const EditText*>(other);
    if (next->pointer_ != pointer_ || next->time_ - time_ > pause_between_steps) return false;
    after_ = next->after_;
    time_ = next->time_;
    setText(next->text());
    setObsolete(after_ == before_);
    return true;
  }

 private:
  ScenarioDocument& document_;
  std::string before_, after_, pointer_;
  Clock::time_point time_ = Clock::now();
};

ScenarioDocument::ScenarioDocument(QObject* parent) : QObject(parent) {
  connect(&undo_, &QUndoStack::cleanChanged, this, &ScenarioDocument::file_changed);
}

QString ScenarioDocument::name() const {
  return QFileInfo(QString::fromStdString(path_)).fileName();
}

void ScenarioDocument::open(const std::string& path) {
  start(read_file(path), path);
}

void ScenarioDocument::start(const std::string& text, const std::string& path) {
  check_is_object(text, path);
  undo_.clear();
  path_ = path;
  set_text(text);
  Q_EMIT file_changed();
}

void ScenarioDocument::close() {
  undo_.clear();
  path_.clear();
  set_text("");
  Q_EMIT file_changed();
}

void ScenarioDocument::save(const std::string& path) {
  std::error_code ignored;
  const bool moved = fs::absolute(path, ignored).parent_path() != fs::absolute(path_, ignored).parent_path();
  const std::string text = moved ? with_absolute_paths(text_, path_) : text_;
  write_file_whole(path, text);
  path_ = path;
  if (text != text_) {
    undo_.clear();
    set_text(text);
  }
  undo_.setClean();
  Q_EMIT file_changed();
}

void ScenarioDocument::restore(const std::string& text, const std::string& path) {
  start(text, path);
  undo_.resetClean();
  Q_EMIT file_changed();
}

void ScenarioDocument::set_field(const FormField& field, const std::string& typed) {
  edit(with_value(text_, written_pointer(text_, field.pointer), literal_of(field, typed), scenario_short_keys),
       tr("%1: %2").arg(QString::fromStdString(field.title), QString::fromStdString(typed)), field.pointer);
}

void ScenarioDocument::reset_field(const FormField& field) {
  edit(without_value(text_, written_pointer(text_, field.pointer)),
       tr("%1: back to its default").arg(QString::fromStdString(field.title)), field.pointer);
}

void ScenarioDocument::replace_text(const std::string& text, const QString& title) {
  edit(text, title, "");
}

void ScenarioDocument::edit(std::string text, const QString& title, const std::string& pointer) {
  if (text == text_) return;
  check_is_object(text, path_);  // what cannot be read could not be edited any more
  undo_.push(std::make_unique<EditText>(*this, text_, std::move(text), title, pointer).release());
  Q_EMIT file_changed();
}

void ScenarioDocument::set_text(std::string text) {
  text_ = std::move(text);
  Q_EMIT changed();
}

std::string with_absolute_paths(const std::string& text, const std::string& path) {
  std::string out = text;
  std::error_code ignored;
  const fs::path folder = fs::absolute(path, ignored).parent_path();
  for (const char* pointer : {"/$schema", "/extends", "/model", "/model/extends", "/cluster", "/cluster/extends",
                              "/cluster/gpu", "/cluster/gpu/extends", "/schedule/csv", "/calibration"}) {
    const std::string literal = value_at(out, pointer);
    if (!literal.starts_with('"')) continue;
    const JsonDocument value = JsonDocument::from_text(literal, path);
    const std::string name(value.root().raw_string());
    const bool always = std::string_view(pointer) == "/extends" || std::string_view(pointer) == "/schedule/csv";
    if (name.empty() || fs::path(name).is_absolute() || name.find("://") != std::string::npos) continue;
    if (!always && !is_path(name)) continue;
    out = with_value(out, pointer, json_string((folder / name).lexically_normal().string()));
  }
  return out;
}

}  // namespace stagecraft::gui
