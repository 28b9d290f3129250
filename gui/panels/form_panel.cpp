#include "gui/panels/form_panel.hpp"

#include <QApplication>
#include <QFrame>
#include <algorithm>

#include "gui/theme/look.hpp"
#include "schedule/family.hpp"
#include "spec/library.hpp"

namespace stagecraft::gui {
namespace {

constexpr const char* closed_at_first[] = {"Shape of the model", "More"};

QString text(const std::string& from) {
  return QString::fromStdString(from);
}

struct TitleWidths {
  int least = 0, wanted = 0;  // the longest word; the longest title, or a bit less
};

TitleWidths title_widths(const std::vector<FormField>& fields) {
  const QFontMetrics metrics(scaled_font(1, QFont::DemiBold));
  TitleWidths widths;
  for (const FormField& field : fields) {
    widths.wanted = std::max(widths.wanted, metrics.horizontalAdvance(text(field.title)) + 4);
    for (const QString& word : text(field.title).split(' '))
      widths.least = std::max(widths.least, metrics.horizontalAdvance(word) + 4);
  }
  widths.wanted = std::min(widths.wanted, metrics.horizontalAdvance("Sequence parallel ab"));
  widths.least = std::min(widths.least, widths.wanted);
  return widths;
}

}  // namespace

KnownNames known_names(const Library& library) {
  KnownNames names{
      model_names(library), cluster_names(library), names_of("gpus", library), {}, names_of("calibrations", library)};
  for (const FamilyEntry& entry : schedule_family()) names.schedules.emplace_back(entry.name);
  return names;
}

FormPanel::FormPanel(ScenarioDocument& document, const Library& library, QWidget* parent)
    : QWidget(parent),
      document_(document),
      library_(library),
      model_(new FormModel(form_fields(known_names(library)), this)) {
  build();
  show_evaluation(nullptr);
  connect(&document_, &ScenarioDocument::changed, this, &FormPanel::let_in);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) { focus_moved(now); });
}

void FormPanel::build() {
  auto* const outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  scroll_ = new QScrollArea(this);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setFocusPolicy(Qt::NoFocus);
  auto* const page = new QWidget;
  page->setObjectName("page");
  auto* const column = new QVBoxLayout(page);
  column->setContentsMargins(gap * 2, gap + 4, gap, gap * 2);
  column->setSpacing(2);

  name_ = new QLabel(page);
  set_text_size(name_, 1.25, QFont::DemiBold);
  name_->setWordWrap(true);
  description_ = new QLabel(page);
  description_->setWordWrap(true);
  description_->setForegroundRole(QPalette::PlaceholderText);
  set_text_size(description_, 0.95);
  banner_ = new QWidget(page);
  banner_->setAttribute(Qt::WA_StyledBackground);
  banner_lines_ = new QVBoxLayout(banner_);
  banner_lines_->setContentsMargins(gap + 2, gap, gap + 2, gap);
  banner_lines_->setSpacing(gap);
  banner_->hide();
  for (QWidget* const widget : {static_cast<QWidget*>(name_), static_cast<QWidget*>(description_), banner_}) {
    column->addWidget(widget);
    column->addSpacing(4);
  }

  QVBoxLayout* body = nullptr;
  std::string group;
  for (const FormField& field : model_->fields()) {
    if (body == nullptr || field.group != group) {
      group = field.group;
      auto* const header = new QPushButton(page);
      header->setProperty("kind", "quiet");
      header->setObjectName(text(group));
      set_text_size(header, 0.92, QFont::DemiBold);
      header->setStyleSheet("text-align: left; padding: 5px 2px; margin-top: 6px;");
      groups_.push_back({header, new QWidget(page)});
      body = new QVBoxLayout(groups_.back().body);
      body->setContentsMargins(2, 0, 0, 4);
      body->setSpacing(3);
      column->addWidget(header);
      column->addWidget(groups_.back().body);
      const Group added = groups_.back();
      connect(header, &QPushButton::clicked, this, [this, added] { set_open(added, added.body->isHidden()); });
      const bool closed = std::any_of(std::begin(closed_at_first), std::end(closed_at_first),
                                      [&](const char* name) { return group == name; });
      set_open(added, !closed);
    }
    auto* const row = new FieldRow(field, groups_.back().body);
    connect(row, &FieldRow::typed, this, [this, row](const QString& value) { take(*row, value); });
    connect(row, &FieldRow::reset, this, [this, row] { take(*row, {}); });
    body->addWidget(row);
    rows_.push_back(row);
  }
  column->addStretch(1);
  scroll_->setWidget(page);
  outer->addWidget(scroll_);
  follow_look(this, [this] { set_title_widths(); });
}

/// The line typed into gives the focus away while everything that hears of it still lives.
FormPanel::~FormPanel() {
  disconnect(qApp, nullptr, this, nullptr);
  for (FieldRow* const row : rows_) row->disconnect(this);
  QWidget* const now = QApplication::focusWidget();
  if (now != nullptr && isAncestorOf(now)) now->clearFocus();
}

void FormPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  set_title_widths();
}

/// Titles give way to the numbers beside them, down to their longest word; there the form is as narrow as it may be.
void FormPanel::set_title_widths() {
  const QMargins page = scroll_->widget()->layout()->contentsMargins();
  const QMargins group = groups_.front().body->layout()->contentsMargins();
  const int beside = scroll_->verticalScrollBar()->sizeHint().width() + page.left() + page.right() + group.left() +
                     group.right() + FieldRow::width_beside_title();
  const TitleWidths title = title_widths(model_->fields());
  setMinimumWidth(beside + title.least);
  for (FieldRow* const row : rows_) row->set_title_width(std::clamp(width() - beside, title.least, title.wanted));
}

/// "" asks for the default.
void FormPanel::take(FieldRow& row, const QString& value) {
  if (!document_.is_open()) return;
  try {
    if (value.isEmpty()) return document_.reset_field(row.field());
    document_.set_field(row.field(), value.toStdString());
  } catch (const std::exception& error) {
    row.show_problems({{Severity::error, row.field().pointer, QString::fromUtf8(error.what()), {}}});
  }
}

void FormPanel::let_in() {
  scroll_->widget()->setEnabled(document_.is_open());
}

void FormPanel::set_open(const Group& group, bool open) {
  group.body->setVisible(open);
  group.header->setText((open ? QString::fromUtf8("\u25be  ") : QString::fromUtf8("\u25b8  ")) +
                        group.header->objectName());
  group.header->setAccessibleDescription(open ? tr("open group") : tr("closed group"));
}

FieldRow* FormPanel::row(const std::string& pointer) const {
  const auto found =
      std::find_if(rows_.begin(), rows_.end(), [&](const FieldRow* row) { return row->field().pointer == pointer; });
  return found == rows_.end() ? nullptr : *found;
}

void FormPanel::go_to(const std::string& pointer) {
  FieldRow* const there = row(pointer);
  if (there == nullptr) return;
  for (const Group& group : groups_)
    if (there->parentWidget() == group.body) set_open(group, true);
  scroll_->ensureWidgetVisible(there);
  // This reason selects what stands there, as Tab does: it is typed over.
  if (QWidget* const editor = there->findChild<FieldEditor*>()) editor->setFocus(Qt::ShortcutFocusReason);
}

void FormPanel::finish_typing() {
  QWidget* const now = QApplication::focusWidget();
  if (now == nullptr || !isAncestorOf(now)) return;
  now->clearFocus();
  now->setFocus();
}

QStringList FormPanel::fold_state() const {
  QStringList closed;
  for (const Group& group : groups_)
    if (group.body->isHidden()) closed.append(group.header->objectName());
  return closed;
}

void FormPanel::set_fold_state(const QStringList& closed) {
  for (const Group& group : groups_) set_open(group, !closed.contains(group.header->objectName()));
}

void FormPanel::refresh_values(const Scenario* scenario) {
  model_->set_values(document_.is_open()
                         ? field_values(document_.text(), document_.path(), model_->fields(), scenario, library_)
                         : std::map<std::string, FieldValue>{});
  for (FieldRow* const row : rows_) {
    row->show_value(model_->value(row->field().pointer));
  }
}

void FormPanel::show_evaluation(const Evaluation* evaluation) {
  const Scenario* const scenario = evaluation != nullptr && evaluation->scenario ? &*evaluation->scenario : nullptr;
  let_in();
  refresh_values(scenario);
  model_->set_problems(evaluation == nullptr ? std::vector<Problem>{} : problems_of(*evaluation));
  name_->setText(scenario != nullptr ? text(scenario->name) : document_.name());
  description_->setText(scenario != nullptr    ? text(scenario->description)
                        : !document_.is_open() ? tr("No scenario is open: its settings stand here.")
                                               : QString());
  for (QLabel* const label : {name_, description_}) label->setVisible(!label->text().isEmpty());
  for (FieldRow* const row : rows_) row->show_problems(model_->problems(row->field().pointer));
  show_banner();
  ask_allowed();
}

void FormPanel::show_banner() {
  while (QLayoutItem* const item = banner_lines_->takeAt(0)) {
    if (item->widget() != nullptr) item->widget()->deleteLater();
    delete item;
  }
  const Theme theme = current_theme();
  bool error = false, any = false;
  const auto add = [&](const QString& message, Severity severity, const std::string& pointer) {
    auto* const label = new QLabel(banner_);
    label->setTextFormat(pointer.empty() ? Qt::PlainText : Qt::RichText);
    label->setWordWrap(true);
    const Ink ink = severity == Severity::error ? Ink::bad : severity == Severity::warning ? Ink::warning : Ink::faint;
    label->setText(pointer.empty() ? message
                                   : QString("<a href=\"%1\" style=\"color:%2\">%3</a>: %4")
                                         .arg(text(pointer), colour_of(ink, theme).name(),
                                              text(model_->find(pointer)->title), message.toHtmlEscaped()));
    label->setTextInteractionFlags(Qt::TextBrowserInteraction);
    set_ink(label, ink);
    connect(label, &QLabel::linkActivated, this, [this](const QString& link) { go_to(link.toStdString()); });
    banner_lines_->addWidget(label);
    any = true;
    error = error || severity == Severity::error;
  };
  for (const Problem& problem : model_->other_problems())
    if (problem.severity != Severity::note) add(problem.message, problem.severity, "");
  for (const FormField& field : model_->fields()) {
    const std::vector<Problem> here = model_->problems(field.pointer);
    if (!here.empty() && here.front().severity == Severity::error)
      add(here.front().message, Severity::error, field.pointer);
  }
  banner_->setVisible(any);
  banner_->setStyleSheet(QString("QWidget { background: %1; border-radius: 6px; }")
                             .arg((error ? theme.bad_wash : theme.warning_wash).name()));
}

void FormPanel::focus_moved(QWidget* now) {
  FieldRow* found = nullptr;
  for (QWidget* widget = now; widget != nullptr && found == nullptr; widget = widget->parentWidget())
    found = qobject_cast<FieldRow*>(widget);
  if (found == focused_ || (found != nullptr && !isAncestorOf(found))) return;
  if (now == nullptr) return;  // another window: the form looks as before when it comes back
  if (focused_ != nullptr) focused_->show_allowed({});
  focused_ = found;
  ask_allowed();
}

void FormPanel::ask_allowed() {
  if (focused_ == nullptr || !document_.is_open()) return;
  const FieldRow* const row = focused_;
  asking_.run(
      [this, text = document_.text(), path = document_.path(), field = row->field(), value = row->value().text,
       library = library_](const std::atomic<bool>& cancel) {
        allowed_ = allowed_values(text, path, field, value, library, &cancel);
      },
      [this, row] {
        if (row == focused_) focused_->show_allowed(allowed_);
      });
}

}  // namespace stagecraft::gui
