#include "gui/panels/timeline_page.hpp"

#include <QHBoxLayout>
#include <QHeaderView>
#include <set>

#include "gui/models/trace_area.hpp"
#include "gui/panels/padded_delegate.hpp"
#include "gui/theme/elided_label.hpp"
#include "gui/theme/look.hpp"

namespace stagecraft::gui {

TimelinePage::TimelinePage(QWidget* parent)
    : QWidget(parent),
      timeline_(new TimelineWidget(this)),
      filter_(new QLineEdit(this)),
      search_(new QLineEdit(this)),
      critical_(new QToolButton(this)),
      interleaved_(new QToolButton(this)),
      all_(new QToolButton(this)),
      title_(new ElidedLabel(this)),
      shown_(new QLabel(this)),
      area_(new AreaModel(this)),
      area_table_(new QTableView(this)) {
  filter_->setPlaceholderText(tr("Filter rows"));
  filter_->setAccessibleName(tr("Show only rows that contain these words"));
  filter_->setClearButtonEnabled(true);
  search_->setPlaceholderText(tr("Find  (/)"));
  search_->setAccessibleName(tr("Find an operation"));
  search_->setClearButtonEnabled(true);
  filter_->setToolTip(tr("Words that a row has to contain: rank 3, node1 pipeline"));
  follow_look(this, [this] {
    const int words = QFontMetrics(QApplication::font()).horizontalAdvance("Filter rows");
    for (QLineEdit* const line : {filter_, search_}) {
      line->setMinimumWidth(words + 20);
      line->setMaximumWidth(2 * words);
    }
  });
  critical_->setText(tr("Critical path"));
  critical_->setCheckable(true);
  critical_->setToolTip(
      tr("Marks the chain of operations that sets the step time; the rest is paler the more slack it has"));
  interleaved_->setText(tr("Rank by rank"));
  interleaved_->setCheckable(true);
  interleaved_->setChecked(true);
  interleaved_->setToolTip(tr("Two traces: the same rank of both under each other"));
  all_->setText(tr("Show all"));
  all_->setToolTip(tr("The parts of the step that are dimmed come back"));
  all_->hide();
  shown_->setForegroundRole(QPalette::Link);
  title_->setForegroundRole(QPalette::PlaceholderText);
  area_table_->setModel(area_);
  area_table_->setAccessibleName(tr("Sums of the selected area"));
  area_table_->verticalHeader()->hide();
  area_table_->setItemDelegate(new PaddedDelegate(area_table_));
  area_table_->setShowGrid(false);
  area_table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  set_row_height(area_table_, 10);
  follow_look(this, [this] { area_table_->setMaximumHeight(QFontMetrics(QApplication::font()).height() * 9); });
  area_table_->hide();

  auto* const bar = new QHBoxLayout;
  bar->setContentsMargins(gap + 4, gap - 2, gap + 4, gap - 2);
  bar->setSpacing(gap);
  bar->addWidget(title_);
  bar->addWidget(shown_);
  bar->addWidget(all_);
  bar->addStretch(1);
  for (QWidget* const widget : {static_cast<QWidget*>(interleaved_), static_cast<QWidget*>(critical_),
                                static_cast<QWidget*>(filter_), static_cast<QWidget*>(search_)})
    bar->addWidget(widget);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
  column->addWidget(timeline_, 1);
  column->addWidget(area_table_);

  connect(filter_, &QLineEdit::textChanged, timeline_, &TimelineWidget::set_filter);
  connect(critical_, &QToolButton::toggled, timeline_, &TimelineWidget::set_critical_path);
  connect(interleaved_, &QToolButton::toggled, timeline_, &TimelineWidget::set_interleaved);
  connect(all_, &QToolButton::clicked, this, [this] { show_highlight({}, {}); });
  connect(search_, &QLineEdit::returnPressed, this,
          [this] { find(!(QGuiApplication::keyboardModifiers() & Qt::ShiftModifier)); });
  connect(timeline_, &TimelineWidget::search_requested, search_, [this] {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
  });
  connect(timeline_, &TimelineWidget::area_changed, this, &TimelinePage::show_area);
}

void TimelinePage::find(bool forward) {
  const bool found = search_->text().isEmpty() || timeline_->find(search_->text(), forward);
  search_->setProperty("wrong", !found);
  search_->setStyleSheet(search_->styleSheet());  // polish again
}

void TimelinePage::show_traces(const std::vector<const LoadedTrace*>& traces, const QString& title) {
  std::vector<Source> sources;
  for (const LoadedTrace* const trace : traces)
    if (trace != nullptr) sources.push_back({trace, 0});
  interleaved_->setVisible(sources.size() > 1);
  title_->setText(title);
  area_->set_sums({});
  area_table_->hide();
  timeline_->set_traces(std::move(sources));
}

void TimelinePage::show_highlight(const std::vector<SliceClass>& classes, const QString& name) {
  timeline_->highlight(classes);
  all_->setVisible(!classes.empty());
  shown_->setText(classes.empty() ? QString() : tr("shown: %1").arg(name));
}

void TimelinePage::show_area() {
  const TimelineView& view = timeline_->view();
  const bool any = view.area && !view.sources.empty();
  area_table_->setVisible(any);
  if (!any) return area_->set_sums({});
  std::set<std::uint32_t> lanes;
  for (std::size_t i = view.area->first_row; i <= view.area->last_row && i < view.rows.size(); ++i)
    if (view.rows[i].source == 0) lanes.insert(view.rows[i].lanes.begin(), view.rows[i].lanes.end());
  area_->set_sums(
      sum_area(*view.sources.front().loaded, {lanes.begin(), lanes.end()}, view.area->begin_s, view.area->end_s));
}

}  // namespace stagecraft::gui
