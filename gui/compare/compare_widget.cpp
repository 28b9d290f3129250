#include "gui/compare/compare_widget.hpp"

#include <QtWidgets>

#include "gui/models/background.hpp"
#include "gui/models/trace_compare.hpp"
#include "gui/theme/check_box.hpp"
#include "gui/theme/combo.hpp"
#include "gui/theme/elided_label.hpp"
#include "gui/theme/look.hpp"
#include "gui/timeline/timeline_widget.hpp"

namespace stagecraft::gui {
namespace {

QTableView* make_table(PlainTableModel* model, QWidget* parent, const QString& name) {
  auto* proxy = new QSortFilterProxyModel(parent);
  proxy->setSourceModel(model);
  proxy->setSortRole(Qt::UserRole);
  auto* table = new QTableView(parent);
  table->setModel(proxy);
  table->setAccessibleName(name);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setShowGrid(false);
  table->setAlternatingRowColors(true);
  table->verticalHeader()->hide();
  set_row_height(table, 6);
  table->horizontalHeader()->setStretchLastSection(true);
  table->horizontalHeader()->setHighlightSections(false);
  return table;
}

QString nothing_to_compare(const LoadedTrace* a) {
  return a == nullptr ? CompareWidget::tr("Open a scenario and pin it (Ctrl+B), or open two traces, to compare them.")
                      : CompareWidget::tr("Pin (Ctrl+B) and change a setting, or open a measured trace (Ctrl+O).");
}

}  // namespace

struct CompareWidget::State {
  const LoadedTrace *a = nullptr, *b = nullptr;
  std::optional<Comparison> comparison;
  TimelineWidget* timeline = nullptr;
  QLabel* headline = nullptr;
  QComboBox* alignment = nullptr;
  PlainTableModel *classes = nullptr, *kinds = nullptr, *operations = nullptr;
  QList<QTableView*> tables;
  int selected_source = 0;
  std::uint32_t selected_span = no_span;
  Background comparing;
};

CompareWidget::CompareWidget(QWidget* parent) : QWidget(parent), state_(std::make_unique<State>()) {
  State& s = *state_;
  s.timeline = new TimelineWidget(this);
  s.headline = new ElidedLabel(nothing_to_compare(nullptr), this);
  s.headline->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  s.alignment = new Combo(this);
  s.alignment->addItems({tr("step start"), tr("selected operation")});
  s.alignment->setAccessibleName(tr("Align A and B at"));
  auto* interleave = new CheckBox(tr("Rank by rank"), this);
  interleave->setChecked(true);
  interleave->setToolTip(
      tr("Every rank of A directly over the rank of B with the same part; otherwise all of A over all of B"));
  auto* label = new QLabel(tr("&Align at"), this);
  label->setBuddy(s.alignment);

  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 8, 12, 8);
  bar->addWidget(s.headline, 1);
  bar->addWidget(interleave);
  bar->addSpacing(12);
  bar->addWidget(label);
  bar->addSpacing(4);
  bar->addWidget(s.alignment);

  s.classes = new PlainTableModel(this);
  s.kinds = new PlainTableModel(this);
  s.operations = new PlainTableModel(this);
  auto* tabs = new QTabWidget(this);
  tabs->setDocumentMode(true);
  const auto tab = [&](PlainTableModel* model, const QString& name) {
    s.tables.push_back(make_table(model, tabs, name));
    tabs->addTab(s.tables.back(), name);
  };
  tab(s.classes, tr("Where the step goes"));
  tab(s.kinds, tr("Kinds of operation"));
  tab(s.operations, tr("Operations"));

  auto* splitter = new QSplitter(Qt::Vertical, this);
  splitter->addWidget(s.timeline);
  splitter->addWidget(tabs);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(splitter, 1);

  connect(interleave, &QCheckBox::toggled, s.timeline, &TimelineWidget::set_interleaved);
  connect(s.alignment, &QComboBox::activated, this,
          [this](int index) { index == 0 ? align_at_step_start() : align_at_selection(); });
  connect(s.timeline, &TimelineWidget::described, this, &CompareWidget::status);
  connect(s.timeline, &TimelineWidget::span_selected, this, [this](int source, quint32 span) {
    state_->selected_source = source;
    state_->selected_span = span;
  });
  connect(s.tables.back(), &QTableView::activated, this, [this](const QModelIndex& index) {
    State& state = *state_;
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(state.tables.back()->model());
    const std::uint32_t pair = state.operations->tag_of(proxy->mapToSource(index).row());
    if (!state.comparison || pair >= state.comparison->alignment.pairs.size()) return;
    state.timeline->select_span(0, state.comparison->alignment.pairs[pair].predicted);
  });
}

CompareWidget::~CompareWidget() = default;

TimelineWidget& CompareWidget::timeline() {
  return *state_->timeline;
}

void CompareWidget::set_palette(const Palette& palette) {
  state_->timeline->set_palette(palette);
}

void CompareWidget::set_traces(const LoadedTrace* a, const LoadedTrace* b) {
  State& s = *state_;
  s.comparing.stop();  // what it compares may go away
  s.a = a;
  s.b = b;
  s.comparison.reset();
  for (PlainTableModel* model : {s.classes, s.kinds, s.operations}) model->set_table({});
  std::vector<Source> sources;
  if (a != nullptr) sources.push_back({a, 0});
  if (b != nullptr) sources.push_back({b, a != nullptr ? shift_to_step_start(*a, *b) : 0});
  s.timeline->set_traces(std::move(sources));
  s.alignment->setCurrentIndex(0);
  const bool both = a != nullptr && b != nullptr && !a->trace.spans.empty() && !b->trace.spans.empty();
  s.headline->setText(both ? tr("Comparing ...") : nothing_to_compare(a));
  if (!both) return;
  const auto result = std::make_shared<Comparison>();
  s.comparing.run([a, b, result](const std::atomic<bool>&) { *result = compare(*a, *b); },
                  [this, result] { show_comparison(std::move(*result)); });
}

void CompareWidget::show_comparison(Comparison comparison) {
  State& s = *state_;
  s.classes->set_table(class_table(comparison));
  s.kinds->set_table(kind_table(comparison));
  s.operations->set_table(operation_table(*s.a, *s.b, comparison));
  s.headline->setText(headline(comparison));
  s.comparison = std::move(comparison);
  for (QTableView* table : s.tables) table->resizeColumnsToContents();
  s.tables.back()->setSortingEnabled(true);
  s.tables.back()->sortByColumn(-1, Qt::AscendingOrder);
  Q_EMIT compared();
}

void CompareWidget::align_at_step_start() {
  State& s = *state_;
  s.alignment->setCurrentIndex(0);
  if (s.a != nullptr && s.b != nullptr) s.timeline->set_shift(1, shift_to_step_start(*s.a, *s.b));
}

void CompareWidget::align_at_selection() {
  State& s = *state_;
  const bool ready = s.comparison && s.a != nullptr && s.b != nullptr && s.selected_span != no_span;
  const auto shift =
      ready ? shift_to_operation(*s.a, *s.b, *s.comparison, s.selected_source == 0, s.selected_span) : std::nullopt;
  if (!shift) {
    s.alignment->setCurrentIndex(0);
    Q_EMIT status(tr("Select an operation that both traces have, then align at it."));
    return;
  }
  s.alignment->setCurrentIndex(1);
  s.timeline->set_shift(1, *shift);
}

}  // namespace stagecraft::gui
