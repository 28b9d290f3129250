#pragma once
// A scenario file being edited: its text, undo and redo, open and save. Whatever the form does not know stays in the
// text as it was.

#include <QObject>
#include <QUndoStack>
#include <string>

#include "gui/models/form_fields.hpp"

namespace stagecraft::gui {

class ScenarioDocument : public QObject {
  Q_OBJECT

 public:
  explicit ScenarioDocument(QObject* parent = nullptr);

  bool is_open() const { return !text_.empty(); }
  const std::string& text() const { return text_; }
  const std::string& path() const { return path_; }  // as messages name it; what the text names is beside it
  QString name() const;                              // of the file
  bool modified() const { return !undo_.isClean(); }
  QUndoStack& undo_stack() { return undo_; }

  /// Throws InputError: no such file, too large, not JSON, no object.
  void open(const std::string& path);
  /// A text that has no file yet. Throws InputError.
  void start(const std::string& text, const std::string& path);
  /// A text that no file holds any more: it counts as modified. Throws InputError.
  void restore(const std::string& text, const std::string& path);
  void close();
  /// Whole or not at all. Throws InputError. In another folder, relative paths become absolute ones.
  void save(const std::string& path);

  /// One step of undo; typing on in one field without a pause of a second is one step. Nothing if the value is the
  /// same. This and the next throw InputError if no scenario is open.
  void set_field(const FormField& field, const std::string& typed);
  /// Back to what the field is without being written here.
  void reset_field(const FormField& field);
  /// The whole text as one step of undo. Throws InputError.
  void replace_text(const std::string& text, const QString& title);

 Q_SIGNALS:
  void changed();       // the text
  void file_changed();  // path or modified()

 private:
  friend class EditText;
  void edit(std::string text, const QString& title, const std::string& pointer);
  void set_text(std::string text);

  std::string text_, path_;
  QUndoStack undo_;
};

/// The text as it has to read in another folder: relative paths to files are absolute.
std::string with_absolute_paths(const std::string& text, const std::string& path);

}  // namespace stagecraft::gui
