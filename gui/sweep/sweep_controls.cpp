// The view Sweep: its widgets and what they start.

#include <QFileDialog>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "gui/panels/flow_layout.hpp"
#include "gui/panels/tall_page.hpp"
#include "gui/sweep/sweep_page.hpp"
#include "gui/theme/combo.hpp"
#include "gui/theme/elided_label.hpp"
#include "gui/theme/progress_line.hpp"
#include "gui/theme/theme.hpp"

namespace stagecraft::gui {
namespace {

QPushButton* button(const QString& title, const QString& help) {
  auto* const one = new QPushButton(title);
  one->setToolTip(help);
  return one;
}

QLabel* faint_label(const QString& text, QWidget* buddy) {
  auto* const label = new QLabel(text);
  label->setForegroundRole(QPalette::PlaceholderText);
  label->setBuddy(buddy);
  return label;
}

}  // namespace

QWidget* SweepPage::build_controls() {
  how_ = new Combo;
  how_->addItems({tr("simulated, with contention"), tr("closed form, faster")});
  how_->setAccessibleName(tr("How points are timed"));
  output_ = new QLineEdit;
  output_->setPlaceholderText(tr("a new file for each sweep"));
  output_->setAccessibleName(tr("Results"));
  output_->setToolTip(
      tr("A .json file; what is computed goes to its .journal as it comes, from which an interrupted "
         "sweep or search goes on"));
  auto* const browse = button(QString::fromUtf8("\u2026"), tr("Choose the file for the results"));
  browse->setAccessibleName(browse->toolTip());
  connect(browse, &QPushButton::clicked, this, &SweepPage::choose_output);

  start_ = button(tr("Start sweep"), tr("Rehearses the scenario at every combination of these values"));
  start_->setProperty("kind", "primary");
  search_ = button(tr("Search layouts"), {});
  cancel_ = button(tr("Cancel"), tr("Ends it as Ctrl+C would; what was computed is kept"));
  resume_ = button(tr("Resume"), tr("Computes what is missing"));
  open_ = button(tr("Open results\u2026"), tr("The journal or the JSON of a sweep or search"));
  take_ = button(tr("To the form"), tr("The values of the chosen point into the form; a double click does the same"));

  auto* const where = new QHBoxLayout;
  where->setSpacing(gap - 2);
  where->addWidget(output_, 1);
  where->addWidget(browse);
  auto* const how = new QWidget;
  auto* const grid = new QGridLayout(how);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(gap);
  grid->setVerticalSpacing(gap - 4);
  grid->addWidget(faint_label(tr("Points"), how_), 0, 0);
  grid->addWidget(how_, 0, 1);
  grid->addWidget(faint_label(tr("Results"), output_), 1, 0);
  grid->addLayout(where, 1, 1);
  auto* const upper = new QWidget;
  auto* const parts = new FlowLayout(gap, upper);
  parts->addWidget(axes_);
  parts->addWidget(how);

  auto* const buttons = new QWidget;
  auto* const flow = new FlowLayout(gap, buttons);
  for (QPushButton* const one : {start_, search_, cancel_, resume_, open_, take_}) flow->addWidget(one);
  auto* const controls = new QWidget;
  auto* const column = new QVBoxLayout(controls);
  column->setContentsMargins(gap * 2, gap + 4, gap * 2, gap - 2);
  column->setSpacing(gap - 2);
  column->addWidget(upper);
  column->addWidget(buttons);
  column->addWidget(progress_);
  column->addWidget(state_);
  return controls;
}

void SweepPage::build() {
  message_ = new MessageBar(this);
  progress_ = make_progress_line();
  state_ = new ElidedLabel;
  state_->setForegroundRole(QPalette::PlaceholderText);
  state_->setTextFormat(Qt::PlainText);
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  state_->setMinimumWidth(100);
  state_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  plot_ = new ParetoPlot(points_);
  table_ = new SweepTable(points_);
  auto* const down = new QSplitter(Qt::Vertical);
  down->addWidget(plot_);
  down->addWidget(table_);
  down->setStretchFactor(0, 3);
  down->setStretchFactor(1, 2);
  down->setChildrenCollapsible(false);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(message_);
  auto* const parts = new QVBoxLayout;
  parts->setContentsMargins(0, 0, 0, 0);
  parts->setSpacing(0);
  parts->addWidget(build_controls());
  parts->addWidget(down, 1);
  column->addWidget(make_tall_page(parts, this), 1);
}

void SweepPage::connect_parts() {
  connect(start_, &QPushButton::clicked, this, [this] { start(SweepKind::sweep); });
  connect(search_, &QPushButton::clicked, this, [this] { start(SweepKind::search); });
  connect(cancel_, &QPushButton::clicked, this, &SweepPage::cancel);
  connect(resume_, &QPushButton::clicked, this, &SweepPage::resume);
  connect(open_, &QPushButton::clicked, this, &SweepPage::choose_file);
  connect(take_, &QPushButton::clicked, this, [this] { take(plot_->current_row()); });
  connect(axes_, &AxisList::changed, this, &SweepPage::show_buttons);
  connect(&document_, &ScenarioDocument::file_changed, this, &SweepPage::show_buttons);
  connect(&points_, &QAbstractItemModel::modelReset, this, &SweepPage::show_buttons);

  connect(&run_, &SweepRun::table_began, &points_, &SweepPointsModel::set_table);
  connect(&run_, &SweepRun::came, this, [this](const std::vector<Point>& points) {
    const bool first = points_.rowCount() == 0;
    points_.add_points(points);
    if (first) table_->fit_columns();
  });
  connect(&run_, &SweepRun::progressed, this, &SweepPage::show_progress);
  connect(&run_, &SweepRun::searching, this, [this](const SearchProgress& now) {
    if (cancelled_) return;
    progress_->setRange(0, now.total);
    progress_->setValue(now.done);
    state_->setText(now.text);
  });
  connect(&run_, &SweepRun::ended, this, [this](int exit_code, const QString& errors) {
    progress_->hide();
    ended(exit_code, errors);
  });
  connect(&run_, &SweepRun::opened, this, [this](const QString& problem) {
    const SweepProgress done = run_.progress();
    const bool cut_off = run_.unfinished() && run_.order()->kind == SweepKind::search;
    state_->setText(!problem.isEmpty() ? QString()
                    : cut_off ? tr("a search without results yet, Resume computes what is missing; %1").arg(shown_file_)
                    : done.total > 0 ? tr("%1 of %2 points; %3").arg(done.done).arg(done.total).arg(shown_file_)
                                     : tr("%1 points; %2").arg(points_.rowCount()).arg(shown_file_));
    if (!problem.isEmpty()) message_->tell(problem, true);
    if (problem.isEmpty() && shows_axes_) show_axes_of_points();
    table_->fit_columns();
    show_buttons();
  });

  connect(plot_, &ParetoPlot::row_chosen, this, &SweepPage::choose_row);
  connect(table_, &SweepTable::row_chosen, this, &SweepPage::choose_row);
  connect(plot_, &ParetoPlot::row_taken, this, &SweepPage::take);
  connect(table_, &SweepTable::row_taken, this, &SweepPage::take);
}

void SweepPage::choose_row(int row) {
  if (sender() == plot_) table_->set_current_row(row);
  plot_->set_current_row(row);
  show_buttons();
}

void SweepPage::show_buttons() {
  if (start_ == nullptr) return;
  const bool free = !run_.busy();
  start_->setEnabled(free && document_.is_open() && axes_->problem().isEmpty());
  const QString no_search = axes_->search_problem();
  search_->setEnabled(free && document_.is_open() && no_search.isEmpty());
  search_->setToolTip(no_search.isEmpty()
                          ? tr("Every layout of this model on these GPUs that can run: degrees, schedule, micro-batch, "
                               "ZeRO, recompute; of the fields above only these values")
                          : no_search);
  cancel_->setEnabled(run_.running());
  resume_->setEnabled(free && run_.unfinished());
  open_->setEnabled(free);
  take_->setEnabled(plot_->current_row() >= 0);
}

void SweepPage::choose_output() {
  auto* const dialog = new QFileDialog(this, tr("Results"), {}, tr("JSON (*.json)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setOption(QFileDialog::DontConfirmOverwrite);  // asked when a sweep starts
  dialog->setDefaultSuffix("json");
  connect(dialog, &QFileDialog::fileSelected, output_, &QLineEdit::setText);
  dialog->open();
}

void SweepPage::choose_file() {
  auto* const dialog =
      new QFileDialog(this, tr("Open the results of a sweep"), {}, tr("Sweeps (*.journal *.json);;All files (*)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QFileDialog::fileSelected, this, &SweepPage::open);
  dialog->open();
}

}  // namespace stagecraft::gui
