#include "gui/panels/field_row.hpp"

#include <QGridLayout>

#include "gui/panels/flow_layout.hpp"
#include "gui/theme/look.hpp"

namespace stagecraft::gui {
namespace {

QString text(const std::string& from) {
  return QString::fromStdString(from);
}

QString whence_text(const FieldValue& value) {
  switch (value.origin) {
    case ValueOrigin::here:
      return FieldRow::tr("written in this scenario");
    case ValueOrigin::inherited:
      return FieldRow::tr("from %1").arg(text(value.whence));
    case ValueOrigin::library:
      return FieldRow::tr("of the library, %1").arg(text(value.whence));
    case ValueOrigin::chosen:
      return FieldRow::tr("chosen: %1").arg(text(value.whence));
    case ValueOrigin::absent:
      return FieldRow::tr("not set");
  }
  return {};
}

Ink ink_of(Severity severity) {
  return severity == Severity::error ? Ink::bad : severity == Severity::warning ? Ink::warning : Ink::faint;
}

bool same(const Problem& a, const Problem& b) {
  return a.severity == b.severity && a.message == b.message && a.offers == b.offers;
}

}  // namespace

FieldRow::FieldRow(const FormField& field, QWidget* parent)
    : QWidget(parent),
      field_(field),
      editor_(make_field_editor(field, this)),
      title_(new QLabel(text(field.title), this)),
      reset_(new QPushButton(QString::fromUtf8("\u21ba"), this)),
      column_(new QVBoxLayout(this)) {
  title_->setBuddy(editor_);
  title_->setWordWrap(true);
  reset_->setProperty("kind", "quiet");
  follow_look(reset_, [this] { reset_->setFixedWidth(reset_width()); });
  reset_->setToolTip(tr("Back to the default"));
  reset_->setAccessibleName(tr("%1: back to the default").arg(text(field.title)));
  QSizePolicy keeps_place = reset_->sizePolicy();
  keeps_place.setRetainSizeWhenHidden(true);
  reset_->setSizePolicy(keeps_place);

  auto* const line = new QHBoxLayout;
  line->setSpacing(gap);
  line->addWidget(title_);
  line->addWidget(editor_, 1);
  line->addWidget(reset_);
  column_->setContentsMargins(0, 1, 0, 1);
  column_->setSpacing(3);
  column_->addLayout(line);
  connect(editor_, &FieldEditor::typed, this, &FieldRow::typed);
  connect(reset_, &QPushButton::clicked, this, &FieldRow::reset);
}

int FieldRow::reset_width() {
  return QFontMetrics(QApplication::font()).horizontalAdvance(QString::fromUtf8("\u21ba")) + 16;
}

int FieldRow::width_beside_title() {
  return 3 * gap + least_editor_width() + reset_width();
}

void FieldRow::show_value(const FieldValue& value) {
  if (value == value_) return;  // fonts and tool tips are dear
  value_ = value;
  editor_->show_value(value);
  const bool here = value.origin == ValueOrigin::here;
  reset_->setVisible(here && !field_.pointer.ends_with("/extends"));
  set_text_size(title_, 1, here ? QFont::DemiBold : QFont::Normal);
  QString tip = text(field_.description) + "\n" + whence_text(value);
  if (!value.text.empty()) tip += ": " + text(value.text);
  setToolTip("<p>" + tip.toHtmlEscaped().replace("\n", "<br>") + "</p>");
}

void FieldRow::clear_line(QWidget*& line) {
  if (line == nullptr) return;
  line->hide();
  line->deleteLater();
  line = nullptr;
}

QWidget* FieldRow::chips(const QString& lead, const std::vector<std::string>& values, const char* kind) {
  auto* const line = new QWidget(this);
  auto* const flow = new FlowLayout(5, line);
  if (!lead.isEmpty()) {
    auto* const label = new QLabel(lead, line);
    label->setForegroundRole(QPalette::PlaceholderText);
    set_text_size(label, 0.9);
    flow->addWidget(label);
  }
  for (const std::string& value : values) {
    const bool fix = std::string_view(kind) == "fix";
    auto* const chip = new QPushButton(fix ? tr("Use %1").arg(text(value)) : text(value), line);
    chip->setProperty("kind", kind);
    set_text_size(chip, 0.9);
    chip->setCheckable(!fix);
    chip->setChecked(!fix && value == value_.text);
    chip->setFocusPolicy(fix ? Qt::StrongFocus : Qt::ClickFocus);
    chip->setAccessibleName(tr("Set %1 to %2").arg(text(field_.title), text(value)));
    connect(chip, &QPushButton::clicked, this, [this, value] { Q_EMIT typed(text(value)); });
    flow->addWidget(chip);
  }
  return line;
}

void FieldRow::show_problems(const std::vector<Problem>& problems) {
  if (std::equal(problems.begin(), problems.end(), problems_.begin(), problems_.end(), same)) return;
  problems_ = problems;
  clear_line(problem_line_);
  editor_->set_wrong(!problems.empty() && problems.front().severity == Severity::error);
  if (problems.empty()) return;
  problem_line_ = new QWidget(this);
  auto* const column = new QVBoxLayout(problem_line_);
  column->setContentsMargins(0, 0, reset_width() + gap, 3);
  column->setSpacing(3);
  std::vector<std::string> offers;
  for (const Problem& problem : problems) {
    auto* const label = new QLabel(problem.message, problem_line_);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    set_text_size(label, 0.9);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    set_ink(label, ink_of(problem.severity));
    column->addWidget(label);
    for (const std::string& offer : problem.offers)
      if (std::find(offers.begin(), offers.end(), offer) == offers.end() && offer != value_.text)
        offers.push_back(offer);
  }
  const bool error = problems.front().severity == Severity::error;
  if (!offers.empty()) column->addWidget(chips("", offers, error ? "fix" : "chip"));
  column_->insertWidget(1, problem_line_);
}

void FieldRow::show_allowed(const AllowedValues& allowed) {
  clear_line(allowed_line_);
  editor_->set_allowed(allowed.values);
  if (!allowed.judged) return;
  allowed_line_ = allowed.values.empty() ? chips(tr("no value works with the rest as it is"), {}, "chip")
                                         : chips(tr("works now"), allowed.values, "chip");
  column_->addWidget(allowed_line_);
}

}  // namespace stagecraft::gui
