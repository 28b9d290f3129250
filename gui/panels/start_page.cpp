#include "gui/panels/start_page.hpp"

#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "base/input_error.hpp"
#include "base/json_reader.hpp"
#include "gui/panels/flow_layout.hpp"
#include "gui/process/program.hpp"
#include "gui/theme/look.hpp"

namespace stagecraft::gui {
namespace {

QString member(const JsonNode& root, const char* key, const QString& otherwise) {
  const auto node = root.find(key);
  return node && node->is(JsonKind::string)
             ? QString::fromUtf8(node->raw_string().data(), static_cast<qsizetype>(node->raw_string().size()))
             : otherwise;
}

/// A button that shows a title and a text of several lines.
class Card : public QPushButton {
 public:
  Card(const ScenarioCard& card, QWidget* parent) : QPushButton(parent) {
    setProperty("kind", "card");
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(14, 10, 14, 12);
    column->setSpacing(3);
    auto* const title = new QLabel(card.name, this);
    set_text_size(title, 1.02, QFont::DemiBold);
    auto* const text = new QLabel(card.description, this);
    text->setWordWrap(true);
    text->setForegroundRole(QPalette::PlaceholderText);
    set_text_size(text, 0.92);
    text->setAlignment(Qt::AlignTop);
    for (QLabel* const label : {title, text}) {
      label->setAttribute(Qt::WA_TransparentForMouseEvents);
      column->addWidget(label, label == text ? 1 : 0);
    }
    setAccessibleName(card.name);
    setAccessibleDescription(card.description);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return layout()->heightForWidth(width); }
  QSize sizeHint() const override { return {280, layout()->heightForWidth(280)}; }
  QSize minimumSizeHint() const override { return {200, 60}; }
};

}  // namespace

std::vector<ScenarioCard> scenario_cards(const QString& folder) {
  std::vector<ScenarioCard> cards;
  for (const QFileInfo& file : QDir(folder).entryInfoList({"*.json"}, QDir::Files, QDir::Name)) {
    try {
      const JsonDocument document = JsonDocument::from_file(file.absoluteFilePath().toStdString());
      if (!document.root().is(JsonKind::object)) continue;
      cards.push_back({file.absoluteFilePath(), member(document.root(), "name", file.completeBaseName()),
                       member(document.root(), "description", "")});
    } catch (const InputError&) {  // not a scenario: no card
    }
  }
  return cards;
}

StartPage::StartPage(QWidget* parent) : QScrollArea(parent) {
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* const page = new QWidget;
  page->setObjectName("page");
  column_ = new QVBoxLayout(page);
  column_->setContentsMargins(gap * 5, gap * 4, gap * 5, gap * 4);
  column_->setSpacing(gap);

  auto* const title = new QLabel(tr("Rehearse a training step"), page);
  set_text_size(title, 2.1, QFont::DemiBold);
  auto* const lead = new QLabel(tr("Pick a scenario, change any setting, and see at once how long a step takes, where "
                                   "the time goes and whether it "
                                   "fits. Or drop a scenario, a trace or a schedule here."),
                                page);
  lead->setWordWrap(true);
  lead->setForegroundRole(QPalette::PlaceholderText);
  set_text_size(lead, 1.08);
  column_->addWidget(title);
  column_->addWidget(lead);
  auto* const buttons = new QHBoxLayout;
  auto* const open = new QPushButton(tr("&Open a file\u2026"), page);
  open->setProperty("kind", "primary");
  connect(open, &QPushButton::clicked, this, &StartPage::browse);
  auto* const schedule = new QPushButton(tr("Look at &schedules"), page);
  connect(schedule, &QPushButton::clicked, this, &StartPage::schedules);
  buttons->addWidget(open);
  buttons->addWidget(schedule);
  buttons->addStretch(1);
  column_->addSpacing(gap / 2);
  column_->addLayout(buttons);
  recent_ = new QWidget(page);
  new FlowLayout(gap, recent_);
  column_->addSpacing(gap);
  column_->addWidget(recent_);

  const QString folder = scenario_folder();
  if (folder.isEmpty()) {
    auto* const none =
        new QLabel(tr("The example scenarios were not found: set STAGECRAFT_DATA to the folder that holds "
                      "scenarios and topologies."),
                   page);
    none->setWordWrap(true);
    column_->addWidget(none);
  } else {
    add_section(tr("Lessons"), tr("Small scenarios, each with one thing to look at, in order."),
                scenario_cards(folder + "/lessons"), 2);
    add_section(tr("Scenarios"), tr("Published runs beside their prediction, and questions a user would ask."),
                scenario_cards(folder), 2);
  }
  column_->addStretch(1);
  setWidget(page);
}

void StartPage::add_section(const QString& title, const QString& remark, const std::vector<ScenarioCard>& cards,
                            int columns) {
  auto* const heading = new QLabel(title, widget() == nullptr ? this : widget());
  set_text_size(heading, 1.3, QFont::DemiBold);
  auto* const text = new QLabel(remark, heading->parentWidget());
  text->setForegroundRole(QPalette::PlaceholderText);
  column_->addSpacing(gap * 2);
  column_->addWidget(heading);
  column_->addWidget(text);
  auto* const grid = new QGridLayout;
  grid->setSpacing(gap + 2);
  int i = 0;
  for (const ScenarioCard& one : cards) {
    auto* const card = new Card(one, heading->parentWidget());
    connect(card, &QPushButton::clicked, this, [this, path = one.path] { Q_EMIT open(path); });
    grid->addWidget(card, i / columns, i % columns);
    ++i;
  }
  for (int c = 0; c < columns; ++c) grid->setColumnStretch(c, 1);
  column_->addLayout(grid);
}

void StartPage::show_recent(const QStringList& paths) {
  while (QLayoutItem* const item = recent_->layout()->takeAt(0)) {
    item->widget()->deleteLater();
    delete item;
  }
  recent_->setVisible(!paths.isEmpty());
  if (paths.isEmpty()) return;
  auto* const label = new QLabel(tr("Lately:"), recent_);
  label->setForegroundRole(QPalette::PlaceholderText);
  recent_->layout()->addWidget(label);
  for (const QString& path : paths) {
    auto* const link = new QPushButton(QFileInfo(path).fileName(), recent_);
    link->setProperty("kind", "chip");
    link->setToolTip(path);
    connect(link, &QPushButton::clicked, this, [this, path] { Q_EMIT open(path); });
    recent_->layout()->addWidget(link);
  }
}

}  // namespace stagecraft::gui
