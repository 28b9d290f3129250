#include "gui/sweep/sweep_table.hpp"

#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/panels/flow_layout.hpp"
#include "gui/panels/padded_delegate.hpp"
#include "gui/theme/look.hpp"

namespace stagecraft::gui {
namespace {

const char* const filter_titles[sweep_filter_count] = {"all", "frontier", "runs", "does not fit", "cannot run"};

/// Rows of one verdict; what has no figure stands behind what has one, whichever way it is sorted.
class Sorted : public QSortFilterProxyModel {
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;
  void set_filter(SweepFilter filter) {
    filter_ = filter;
    invalidateFilter();
  }

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
    const QVariant verdict = sourceModel()->index(row, 0, parent).data(SweepPointsModel::verdict_role);
    return passes(filter_, static_cast<Verdict>(verdict.toInt()));
  }
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override {
    const QVariant a = left.data(sortRole()), b = right.data(sortRole());
    if (a.isValid() != b.isValid()) return a.isValid() == (sortOrder() == Qt::AscendingOrder);
    if (a == b) return (left.row() < right.row()) == (sortOrder() == Qt::AscendingOrder);
    return QSortFilterProxyModel::lessThan(left, right);
  }

 private:
  SweepFilter filter_ = SweepFilter::all;
};

/// A search varies everything: what came out the same everywhere says nothing.
bool says_nothing(const PointTable& table, std::size_t axis) {
  if (!table.axes[axis].values.empty() || table.points.empty()) return false;
  const std::string& first = table.points.front().values[axis];
  return std::all_of(table.points.begin(), table.points.end(),
                     [&](const Point& point) { return point.values[axis] == first; });
}

}  // namespace

bool passes(SweepFilter filter, Verdict verdict) {
  switch (filter) {
    case SweepFilter::all:
      return true;
    case SweepFilter::frontier:
      return verdict == Verdict::frontier;
    case SweepFilter::runs:
      return verdict <= Verdict::untimed;
    case SweepFilter::does_not_fit:
      return verdict == Verdict::does_not_fit;
    case SweepFilter::cannot_run:
      return verdict >= Verdict::cannot_run;
  }
  return false;
}

SweepTable::SweepTable(SweepPointsModel& model, QWidget* parent)
    : QWidget(parent),
      model_(model),
      sorted_(new Sorted(this)),
      view_(new QTableView(this)),
      filters_(new QButtonGroup(this)) {
  auto* const chips = new QWidget(this);
  auto* const flow = new FlowLayout(gap - 2, chips);
  for (std::size_t i = 0; i < sweep_filter_count; ++i) {
    auto* const chip = new QPushButton(chips);
    chip->setCheckable(true);
    chip->setProperty("kind", "chip");
    filters_->addButton(chip, static_cast<int>(i));
    flow->addWidget(chip);
  }
  filters_->button(0)->setChecked(true);
  connect(filters_, &QButtonGroup::idClicked, this, [this](int id) { set_filter(static_cast<SweepFilter>(id)); });

  sorted_->setSourceModel(&model_);
  sorted_->setSortRole(SweepPointsModel::sort_role);
  view_->setModel(sorted_);
  view_->setAccessibleName(tr("Points"));
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setSelectionMode(QAbstractItemView::SingleSelection);
  view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view_->setShowGrid(false);
  view_->setWordWrap(false);
  view_->setTabKeyNavigation(false);
  view_->setItemDelegate(new PaddedDelegate(view_));
  view_->verticalHeader()->hide();
  view_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  set_row_height(view_, 10);
  view_->horizontalHeader()->setHighlightSections(false);
  view_->horizontalHeader()->setStretchLastSection(true);
  view_->setSortingEnabled(true);

  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, gap - 2, 0, 0);
  column->setSpacing(gap - 4);
  chips->setContentsMargins(gap * 2, 0, gap * 2, 0);
  column->addWidget(chips);
  column->addWidget(view_, 1);

  // What has the focus without being selected is not chosen: it comes with the view.
  connect(view_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    const QModelIndexList rows = view_->selectionModel()->selectedRows();
    if (!rows.isEmpty()) Q_EMIT row_chosen(sorted_->mapToSource(rows.front()).row());
  });
  connect(view_, &QTableView::activated, this,
          [this](const QModelIndex& index) { Q_EMIT row_taken(sorted_->mapToSource(index).row()); });
  for (const auto& changed : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
    connect(&model_, changed, this, &SweepTable::show_counts);
  connect(&model_, &QAbstractItemModel::dataChanged, this, &SweepTable::show_counts);
  connect(&model_, &QAbstractItemModel::modelReset, this, [this] {
    show_counts();
    view_->sortByColumn(model_.axis_columns() + 1, Qt::AscendingOrder);  // the verdict
    fit_columns();
  });
  show_counts();
  follow_look(this, [this] {
    fit_columns();
    view_->setMinimumHeight(7 * QFontMetrics(QApplication::font()).height());  // the titles and three points
  });
}

void SweepTable::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (model_.rowCount() == 0) fit_columns();  // to the titles, whose fonts are known only now
}

void SweepTable::set_filter(SweepFilter filter) {
  filters_->button(static_cast<int>(filter))->setChecked(true);
  static_cast<Sorted*>(sorted_)->set_filter(filter);
  fit_columns();
}

void SweepTable::set_current_row(int row) {
  const QModelIndex index = row < 0 ? QModelIndex() : sorted_->mapFromSource(model_.index(row, 0));
  if (!index.isValid()) return view_->clearSelection();
  view_->setCurrentIndex(index);
  view_->selectRow(index.row());
}

void SweepTable::fit_columns() {
  QHeaderView* const header = view_->horizontalHeader();
  header->setResizeContentsPrecision(60);
  view_->resizeColumnsToContents();
  for (int column = 0; column < model_.reason_column(); ++column)
    view_->setColumnWidth(column, std::min(view_->columnWidth(column), 40 * gap));
  const bool no_figures = filters_->checkedId() == static_cast<int>(SweepFilter::cannot_run);
  for (int column = 0; column < model_.columnCount(); ++column) {
    const bool axis = column > 0 && column <= model_.axis_columns();
    const bool figure = column > model_.axis_columns() + 1 && column < model_.reason_column();
    view_->setColumnHidden(
        column, (figure && no_figures) || (axis && says_nothing(model_.table(), static_cast<std::size_t>(column - 1))));
  }
}

void SweepTable::show_counts() {
  const auto counts = model_.counts();
  for (std::size_t i = 0; i < sweep_filter_count; ++i) {
    std::int64_t count = 0;
    for (std::size_t verdict = 0; verdict < verdict_count; ++verdict)
      if (passes(static_cast<SweepFilter>(i), static_cast<Verdict>(verdict))) count += counts[verdict];
    filters_->button(static_cast<int>(i))->setText(QString("%1 %2").arg(tr(filter_titles[i])).arg(count));
  }
}

}  // namespace stagecraft::gui
