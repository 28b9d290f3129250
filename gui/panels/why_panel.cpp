#include "gui/panels/why_panel.hpp"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QVBoxLayout>

#include "base/input_error.hpp"
#include "gui/panels/breakdown_bar.hpp"
#include "gui/panels/explanation_html.hpp"
#include "gui/panels/padded_delegate.hpp"
#include "gui/theme/look.hpp"
#include "gui/theme/whole_column.hpp"
#include "report/explain.hpp"
#include "report/number_text.hpp"

namespace stagecraft::gui {
namespace {

/// A swatch before the name of a part; the sum is bold.
class PartDelegate : public PaddedDelegate {
 public:
  PartDelegate(const BreakdownModel& model, QObject* parent) : PaddedDelegate(parent), model_(model) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    PaddedDelegate::paint(painter, option, index);
    if (!has_swatch(index)) return;
    const QRect box(option.rect.left() + padding + 2, option.rect.center().y() - 5, 12, 12);
    fill_part(*painter, box, model_.classes()[static_cast<std::size_t>(index.row())], current_theme().dark);
  }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    PaddedDelegate::initStyleOption(option, index);
    if (static_cast<std::size_t>(index.row()) >= model_.classes().size())
      option->font = scaled_font(1, QFont::DemiBold);
    if (!has_swatch(index)) return;
    option->features |= QStyleOptionViewItem::HasDecoration;
    option->decorationSize = QSize(20, 12);
    QPixmap room(20, 12);
    room.fill(Qt::transparent);
    option->icon = QIcon(room);
  }

 private:
  bool has_swatch(const QModelIndex& index) const {
    return index.column() == BreakdownModel::part && static_cast<std::size_t>(index.row()) < model_.classes().size();
  }

  const BreakdownModel& model_;
};

/// As high as its lines.
void fit_height(QTableView& table) {
  table.verticalHeader()->setDefaultSectionSize(QFontMetrics(QApplication::font()).height() + 11);
  const int lines = table.model()->rowCount() * table.verticalHeader()->defaultSectionSize();
  table.setMaximumHeight(table.horizontalHeader()->sizeHint().height() + lines + 4);
}

QLabel* heading(const QString& text, QWidget* parent) {
  auto* const label = new QLabel(text, parent);
  set_text_size(label, 1.1, QFont::DemiBold);
  return label;
}

}  // namespace

std::vector<SliceClass> slices_of(TimeClass part) {
  std::vector<SliceClass> slices;
  for (std::size_t i = 0; i < slice_class_count; ++i)
    if (time_class_of(static_cast<SliceClass>(i)) == part) slices.push_back(static_cast<SliceClass>(i));
  return slices;
}

WhyPanel::WhyPanel(QWidget* parent)
    : QWidget(parent),
      model_(new BreakdownModel(this)),
      bar_(new BreakdownBar(this)),
      table_(new QTableView(this)),
      text_(new QTextBrowser(this)),
      critical_(new QLabel(this)),
      memory_(new MemoryBars) {
  table_->setModel(model_);
  table_->setItemDelegate(new PartDelegate(*model_, table_));
  table_->setShowGrid(false);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->verticalHeader()->hide();
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  keep_column_whole(table_, BreakdownModel::part);
  table_->setAccessibleName(tr("Where the step goes"));
  table_->setTabKeyNavigation(false);
  text_->setAccessibleName(tr("Formula and inputs"));
  text_->setFrameShape(QFrame::NoFrame);
  text_->setOpenLinks(false);
  connect(text_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    const QString to = link.path();
    came_from_ = to == came_from_ ? QString() : key_;
    key_ = to;
    show_explanation();
  });
  critical_->setForegroundRole(QPalette::PlaceholderText);
  critical_->setWordWrap(true);

  auto* const memory_scroll = new QScrollArea(this);
  memory_scroll->setWidget(memory_);
  memory_scroll->setWidgetResizable(true);
  memory_scroll->setFrameShape(QFrame::NoFrame);
  memory_->setAutoFillBackground(false);

  follow_look(this, [this, memory_scroll] {
    fit_height(*table_);
    memory_->updateGeometry();
    memory_scroll->setMinimumWidth(memory_->minimumSizeHint().width() +
                                   memory_scroll->verticalScrollBar()->sizeHint().width());
  });

  auto* const lower = new QSplitter(Qt::Horizontal, this);
  const auto boxed = [&](const QString& title, QWidget* widget) {
    const bool first = lower->count() == 0;
    auto* const box = new QWidget(lower);
    auto* const column = new QVBoxLayout(box);
    column->setContentsMargins(first ? 0 : gap * 2, gap, first ? gap * 2 : 0, 0);
    column->addWidget(heading(title, box));
    column->addWidget(widget, 1);
    lower->addWidget(box);
  };
  boxed(tr("Peak memory by pipeline rank"), memory_scroll);
  boxed(tr("Formula and inputs"), text_);
  lower->setStretchFactor(0, 2);
  lower->setStretchFactor(1, 3);

  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(gap * 2, gap * 2, gap * 2, gap);
  column->setSpacing(gap);
  column->addWidget(heading(tr("Where the step goes, along the critical path"), this));
  column->addWidget(critical_);
  column->addWidget(bar_);
  column->addWidget(table_, 3);
  column->addWidget(lower, 2);

  // What has the focus without being selected is not chosen: it comes with the view.
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          [this] { part_chosen(selected_part()); });
  connect(table_, &QTableView::clicked, this, &WhyPanel::part_chosen);
  connect(bar_, &BreakdownBar::chosen, this, [this](int part) {
    for (std::size_t i = 0; i < model_->classes().size(); ++i)
      if (static_cast<int>(model_->classes()[i]) == part)
        table_->setCurrentIndex(model_->index(static_cast<int>(i), 0));
  });
  connect(memory_, &MemoryBars::explain, this, &WhyPanel::explain);
}

void WhyPanel::show_reports(const Report* report, const Report* baseline) {
  const int row = selected_part().row();
  report_ = report;
  {
    const QSignalBlocker quiet(table_->selectionModel());
    model_->set_report(report, baseline);
  }
  bar_->set_seconds(report == nullptr ? Breakdown{} : report->critical_path);
  bar_->set_chosen(-1);
  memory_->set_report(report);
  table_->setColumnHidden(BreakdownModel::change, baseline == nullptr);
  fit_height(*table_);
  critical_->setText(report == nullptr ? QString()
                                       : tr("Every second of the step is in one part. The path runs through %1 "
                                            "operations, most of them on rank %2.")
                                             .arg(report->critical_path_spans)
                                             .arg(report->critical_path_busiest_rank));
  if (row >= 0 && row < model_->rowCount()) {
    const QSignalBlocker quiet(table_->selectionModel());
    table_->setCurrentIndex(model_->index(row, 0));
  }
  if (isVisible()) explain(key_);  // it takes a report as text
}

void WhyPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  explain(key_);
}

void WhyPanel::explain(const QString& key) {
  key_ = key;
  came_from_.clear();
  show_explanation();
}

void WhyPanel::show_explanation() {
  if (report_ == nullptr) return text_->clear();
  try {
    text_->setHtml(explanation_html(explanation(key_.toStdString(), *report_), came_from_));
  } catch (const InputError& error) {
    text_->setPlainText(QString::fromStdString(error.what()));
  }
}

void WhyPanel::set_stale(bool stale) {
  for (QWidget* const widget : {static_cast<QWidget*>(bar_), static_cast<QWidget*>(table_),
                                static_cast<QWidget*>(memory_), static_cast<QWidget*>(text_)}) {
    QPalette colours = QApplication::palette();
    if (stale) {
      for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText})
        colours.setColor(role, current_theme().faint);
    }
    widget->setPalette(colours);
  }
}

QModelIndex WhyPanel::selected_part() const {
  return table_->selectionModel()->selectedRows().value(0);
}

void WhyPanel::part_chosen(const QModelIndex& index) {
  if (!index.isValid() || report_ == nullptr) return;
  explain(model_->key_of(index));
  const auto row = static_cast<std::size_t>(index.row());
  const bool sum = row >= model_->classes().size();
  bar_->set_chosen(sum ? -1 : static_cast<int>(model_->classes()[row]));
  Q_EMIT slices_wanted(sum ? std::vector<SliceClass>{} : slices_of(model_->classes()[row]));
}

}  // namespace stagecraft::gui
