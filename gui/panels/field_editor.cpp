#include "gui/panels/field_editor.hpp"

#include <QComboBox>
#include <QCompleter>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QStyle>
#include <algorithm>

#include "gui/theme/check_box.hpp"
#include "gui/theme/combo.hpp"
#include "gui/theme/elided_label.hpp"
#include "gui/theme/look.hpp"

namespace stagecraft::gui {
namespace {

QString text(const std::string& from) {
  return QString::fromStdString(from);
}

void mark_wrong(QWidget* widget, bool wrong) {
  if (widget->property("wrong").toBool() == wrong) return;
  widget->setProperty("wrong", wrong);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

int unit_width() {
  return QFontMetrics(scaled_font(0.9)).horizontalAdvance("micro-batches") + 2;
}

/// A number of seven digits with its frame.
int line_width() {
  return QFontMetrics(QApplication::font()).horizontalAdvance("0000000") + 20;
}

QHBoxLayout* only(FieldEditor* editor, QWidget* widget, const FormField& field) {
  auto* const row = new QHBoxLayout(editor);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(gap);
  row->addWidget(widget, 1);
  widget->setAccessibleName(text(field.title));
  widget->setAccessibleDescription(text(field.description));
  editor->setFocusProxy(widget);
  return row;
}

/// Undo and redo in a line are the document's: its own would come back as a new edit. What is typed and not taken yet
/// is the line's.
class UndoThrough : public QObject {
 public:
  explicit UndoThrough(QLineEdit* line) : QObject(line), line_(line) { line->installEventFilter(this); }

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress) return false;
    const auto* const key = static_cast<const QKeyEvent*>(event);
    if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo)) return false;
    if (line_->isModified()) return false;
    if (event->type() == QEvent::ShortcutOverride) event->ignore();
    return true;
  }

 private:
  QLineEdit* line_;
};

/// "0.00", on the way to "0.001", is what the scenario shows as "0.0".
bool same_number(const QString& a, const QString& b) {
  bool is_a = false, is_b = false;
  const double x = a.toDouble(&is_a), y = b.toDouble(&is_b);
  return is_a && is_b && x == y;
}

/// Up and Down step through the allowed values, or by one.
class StepLine : public QLineEdit {
 public:
  using QLineEdit::QLineEdit;
  std::vector<std::string> allowed;
  bool whole_numbers = false;

 protected:
  void keyPressEvent(QKeyEvent* event) override {
    const int direction = event->key() == Qt::Key_Up ? 1 : event->key() == Qt::Key_Down ? -1 : 0;
    if (direction == 0 || !whole_numbers) return QLineEdit::keyPressEvent(event);
    bool number = false;
    const qint64 now = (text().isEmpty() ? placeholderText() : text()).toLongLong(&number);
    if (!number) return;
    qint64 next = std::max<qint64>(now + direction, 0);
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      const std::string& value = direction > 0 ? allowed[i] : allowed[allowed.size() - 1 - i];
      const qint64 candidate = QString::fromStdString(value).toLongLong();
      if (direction > 0 ? candidate <= now : candidate >= now) continue;
      next = candidate;
      break;
    }
    setText(QString::number(next));
    Q_EMIT textEdited(QLineEdit::text());
  }
};

class LineField : public FieldEditor {
 public:
  LineField(const FormField& field, QWidget* parent) : FieldEditor(field, parent), line_(new StepLine(this)) {
    line_->whole_numbers = field.kind == FieldKind::integer;
    const bool number = field.kind == FieldKind::integer || field.kind == FieldKind::number;
    follow_look(line_, [this] { line_->setMinimumWidth(line_width()); });
    QHBoxLayout* const row = only(this, line_, field);
    if (!field.unit.empty()) {
      auto* const unit = new ElidedLabel(text(field.unit), this);
      unit->setForegroundRole(QPalette::PlaceholderText);
      set_text_size(unit, 0.9);
      follow_look(unit, [unit] { unit->setFixedWidth(unit_width()); });
      row->addWidget(unit);
    }
    new UndoThrough(line_);
    if (number) {
      connect(line_, &QLineEdit::textEdited, this, [this](const QString& value) {
        line_->setModified(false);  // taken
        Q_EMIT typed(value);
      });
    } else {
      connect(line_, &QLineEdit::editingFinished, this, [this] {
        if (!line_->isModified()) return;
        line_->setModified(false);
        Q_EMIT typed(line_->text());
      });
    }
  }

  void show_value(const FieldValue& value) override {
    const bool written = value.origin == ValueOrigin::here;
    line_->setPlaceholderText(written ? QString() : text(value.text));
    const QString shown = written ? text(value.text) : QString();
    if (line_->text() == shown || (line_->hasFocus() && same_number(line_->text(), shown))) return;
    const int cursor = line_->cursorPosition();
    line_->setText(shown);
    line_->setCursorPosition(std::min(cursor, static_cast<int>(shown.size())));
  }
  void set_wrong(bool wrong) override { mark_wrong(line_, wrong); }
  void set_allowed(const std::vector<std::string>& values) override { line_->allowed = values; }

 private:
  StepLine* line_;
};

class CheckField : public FieldEditor {
 public:
  CheckField(const FormField& field, QWidget* parent) : FieldEditor(field, parent), box_(new CheckBox(this)) {
    only(this, box_, field);
    connect(box_, &QCheckBox::clicked, this, [this](bool on) { Q_EMIT typed(on ? "true" : "false"); });
  }
  void show_value(const FieldValue& value) override {
    box_->setChecked(value.text == "true");
    box_->setText(value.text == "true" ? tr("on") : value.text.empty() ? QString() : tr("off"));
  }
  void set_wrong(bool wrong) override { mark_wrong(box_, wrong); }

 private:
  CheckBox* box_;
};

class WordField : public FieldEditor {
 public:
  WordField(const FormField& field, QWidget* parent) : FieldEditor(field, parent), combo_(new Combo(this)) {
    combo_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo_->setMinimumContentsLength(8);
    for (const std::string& choice : field.choices) combo_->addItem(text(choice));
    if (field.kind == FieldKind::name || field.list) {
      combo_->setEditable(true);
      combo_->setInsertPolicy(QComboBox::NoInsert);
      combo_->completer()->setFilterMode(Qt::MatchContains);
      combo_->completer()->setCompletionMode(QCompleter::PopupCompletion);
      new UndoThrough(combo_->lineEdit());
      connect(combo_->lineEdit(), &QLineEdit::editingFinished, this, [this] { take(combo_->currentText()); });
    }
    only(this, combo_, field);
    connect(combo_, &QComboBox::textActivated, this, &WordField::take);
  }

  void show_value(const FieldValue& value) override {
    shown_ = text(value.text);
    const QSignalBlocker quiet(combo_);
    const int index = combo_->findText(shown_);
    combo_->setCurrentIndex(index);
    if (combo_->isEditable()) {
      combo_->setEditText(shown_);
      combo_->lineEdit()->setCursorPosition(0);
    } else if (index < 0) {
      combo_->setPlaceholderText(shown_);
    }
  }
  void set_wrong(bool wrong) override { mark_wrong(combo_, wrong); }

 private:
  void take(const QString& value) {
    if (combo_->isEditable()) combo_->lineEdit()->setModified(false);
    if (value == shown_) return;
    shown_ = value;
    Q_EMIT typed(value);
  }

  QComboBox* combo_;
  QString shown_;
};

}  // namespace

FieldEditor::FieldEditor(const FormField& field, QWidget* parent) : QWidget(parent) {
  setObjectName(text(field.pointer));
}

int least_editor_width() {
  return line_width() + gap + unit_width();
}

FieldEditor* make_field_editor(const FormField& field, QWidget* parent) {
  switch (field.kind) {
    case FieldKind::boolean:
      return new CheckField(field, parent);
    case FieldKind::choice:
    case FieldKind::name:
      return new WordField(field, parent);
    default:
      return new LineField(field, parent);
  }
}

}  // namespace stagecraft::gui
