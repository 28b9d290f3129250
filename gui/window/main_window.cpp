#include "gui/window/main_window.hpp"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHeaderView>
#include <QMimeData>
#include <QStatusBar>
#include <QTimer>

#include "gui/panels/padded_delegate.hpp"
#include "gui/theme/look.hpp"
#include "gui/timeline/palette.hpp"

namespace stagecraft::gui {
namespace {

constexpr const char* tab_titles[view_tab_count] = {"Timeline", "Why slow", "Topology", "Compare",
                                                    "Schedule", "Table",    "Sweep"};

}  // namespace

MainWindow::MainWindow(const Library& library, QWidget* parent) : QMainWindow(parent), evaluator_(library) {
  setAcceptDrops(true);
  setMinimumSize(760, 480);
  resize(1440, 900);
  form_ = new FormPanel(document_, library);
  build_panels();
  build_menus();
  connect_panels();
  follow_look(this, [this] { show_look(); });
  show_title();
  show_figures();
}

MainWindow::~MainWindow() {
  drop_traces();
  evaluator_.disconnect(this);
}

void MainWindow::build_panels() {
  stack_ = new QStackedWidget(this);
  start_ = new StartPage(stack_);
  strip_ = new HeadlineStrip;
  tabs_ = new QTabWidget;
  tabs_->setDocumentMode(true);
  timeline_ = new TimelinePage;
  why_ = new WhyPanel;
  topology_ = new TopologyWidget;
  compare_ = new CompareWidget;
  schedule_ = new SchedulePanel;
  slices_ = new SliceTableModel(this);
  table_ = new QTableView;
  table_->setModel(slices_);
  table_->setAccessibleName(tr("Every operation of the timeline"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setShowGrid(false);
  table_->setItemDelegate(new PaddedDelegate(table_));
  table_->horizontalHeader()->setHighlightSections(false);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  sweep_ = new SweepPage(document_, form_->model());
  QWidget* const pages[view_tab_count] = {timeline_, why_, topology_, compare_, schedule_, table_, sweep_};
  for (int i = 0; i < view_tab_count; ++i) tabs_->addTab(pages[i], tr(tab_titles[i]));
  for (QWidget* const page : {static_cast<QWidget*>(topology_), static_cast<QWidget*>(compare_)})
    for (QTableView* const table : page->findChildren<QTableView*>()) table->setItemDelegate(new PaddedDelegate(table));
  run_ = new RunPanel(document_);

  auto* const right = new QWidget;
  auto* const column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  down_ = new QSplitter(Qt::Vertical);
  down_->addWidget(tabs_);
  down_->addWidget(run_);
  down_->setStretchFactor(0, 1);
  down_->setStretchFactor(1, 0);
  down_->setCollapsible(0, false);
  down_->setSizes({1000, 200});  // when the runs are shown; those of the last session else
  run_->hide();
  column->addWidget(strip_);
  column->addWidget(down_, 1);
  across_ = new QSplitter(Qt::Horizontal);
  across_->addWidget(form_);
  across_->addWidget(right);
  across_->setStretchFactor(0, 0);
  across_->setStretchFactor(1, 1);
  across_->setCollapsible(1, false);
  across_->setSizes({440, 1000});
  stack_->addWidget(start_);
  stack_->addWidget(across_);

  message_ = new MessageBar;
  auto* const whole = new QWidget(this);
  auto* const rows = new QVBoxLayout(whole);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  rows->addWidget(message_);
  rows->addWidget(stack_, 1);
  setCentralWidget(whole);

  state_ = new QLabel(this);
  state_->setContentsMargins(gap, 0, gap + 4, 0);
  described_ = new QLabel(this);
  described_->setContentsMargins(gap, 0, gap, 0);
  described_->setTextFormat(Qt::PlainText);
  statusBar()->setSizeGripEnabled(false);
  statusBar()->addWidget(described_, 1);
  statusBar()->addPermanentWidget(state_);
}

void MainWindow::fit_table() {
  const QFontMetrics metrics(QApplication::font());
  if (table_->verticalHeader()->defaultSectionSize() == metrics.height() + 10) return;  // keeps what the user set
  table_->horizontalHeader()->setDefaultSectionSize(metrics.horizontalAdvance("micro-batch") + 40);
  table_->setColumnWidth(0, metrics.horizontalAdvance("OPTIMIZER_STEP") + 40);
  table_->setColumnWidth(8, metrics.horizontalAdvance("pipeline communication") + 40);  // class
  table_->verticalHeader()->setDefaultSectionSize(metrics.height() + 10);
}

void MainWindow::connect_panels() {
  connect(start_, &StartPage::open, this, &MainWindow::open_path);
  connect(tabs_, &QTabWidget::currentChanged, this, [this] {
    show_comparison();
    show_scenario_schedule();
  });
  connect(start_, &StartPage::browse, this, &MainWindow::open_dialog);
  connect(start_, &StartPage::schedules, this, [this] { show_view(ViewTab::schedule); });
  connect(&document_, &ScenarioDocument::changed, this, [this] {
    evaluator_.set_scenario(document_.text(), document_.path());
    show_state();
  });
  connect(&document_, &ScenarioDocument::file_changed, this, &MainWindow::show_title);
  connect(&evaluator_, &Evaluator::about_to_drop_traces, this, &MainWindow::drop_traces);
  connect(&evaluator_, &Evaluator::evaluated, this, [this] {
    form_is_behind_ = true;
    show_headline();
    strip_->repaint();  // before the rest is brought up to date
    show_all_soon();
  });
  connect(&evaluator_, &Evaluator::changed, this, &MainWindow::show_all_soon);
  soon_.setSingleShot(true);
  soon_.setInterval(0);
  connect(&soon_, &QTimer::timeout, this, &MainWindow::show_all);
  connect(strip_, &HeadlineStrip::explain, this, [this](const QString& key) {
    show_view(ViewTab::why);
    why_->explain(key);
  });
  connect(why_, &WhyPanel::slices_wanted, this, [this](const std::vector<SliceClass>& classes) {
    timeline_->show_highlight(classes, classes.empty() ? QString() : QString(to_text(time_class_of(classes.front()))));
  });
  connect(&timeline_->timeline(), &TimelineWidget::described, described_, &QLabel::setText);
  connect(&timeline_->timeline(), &TimelineWidget::keys_requested, this, &MainWindow::show_keys);
  connect(&timeline_->timeline(), &TimelineWidget::time_range_changed, topology_, &TopologyWidget::set_range);
  connect(compare_, &CompareWidget::status, described_, &QLabel::setText);
  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    show_view(ViewTab::timeline);
    timeline_->timeline().select_span(0, slices_->span_of(index.row()));
  });
  connect(schedule_, &SchedulePanel::load_wanted, this, [this] { csv_dialog(false); });
  connect(schedule_, &SchedulePanel::save_wanted, this, [this] { csv_dialog(true); });
  connect(schedule_, &SchedulePanel::status, this, [this](const QString& text) { message_->tell(text, true); });
  connect(run_, &RunPanel::measured, this, &MainWindow::open_trace);
  connect(run_, &RunPanel::calibrated, this, [this](const QString& path) {
    const FormField* const field = form_->model().find("/calibration");
    if (field == nullptr || !document_.is_open()) return;
    try {
      document_.set_field(*field, path.toStdString());
    } catch (const std::exception& error) {
      report_problem(error);
    }
  });
  connect(run_, &RunPanel::bundle_wanted, this, &MainWindow::bundle_dialog);
  connect(run_, &RunPanel::trace_wanted, this, &MainWindow::open_folder_dialog);
  connect(run_, &RunPanel::running_changed, this, [this] { cancel_run_->setEnabled(run_->running()); });
  connect(sweep_, &SweepPage::running_changed, this, [this] { cancel_sweep_->setEnabled(sweep_->running()); });
}

bool MainWindow::has_content() const {
  return document_.is_open() || measured_ != nullptr;
}

bool MainWindow::idle() const {
  const bool reads_points = sweep_->busy() && !sweep_->running();
  return !evaluator_.busy() && !opening_.busy() && !copying_.busy() && !soon_.isActive() && !reads_points;
}

void MainWindow::drop_traces() {
  shown_.clear();
  compared_ = false;
  if (!opening_.busy()) described_->clear();  // it told of what was shown
  timeline_->show_traces({}, {});
  compare_->set_traces(nullptr, nullptr);
  topology_->set_topology(nullptr, nullptr);
  slices_->set_trace(nullptr);
  why_->show_reports(nullptr, nullptr);
}

const LoadedTrace* MainWindow::compared_with() const {
  return measured_ && evaluator_.trace() != nullptr ? measured_.get() : pinned_trace_.get();
}

void MainWindow::show_traces() {
  const WorkedOut* const before = evaluator_.before_refusal();
  const LoadedTrace* const predicted = before != nullptr ? before->loaded.get() : evaluator_.trace();
  const LoadedTrace* const first = predicted != nullptr ? predicted : measured_.get();
  const std::vector<const LoadedTrace*> wanted = {first, measured_.get(), pinned_trace_.get()};
  if (wanted == shown_) return;  // keeps where the user looks
  shown_ = wanted;
  compared_ = false;
  if (!opening_.busy()) described_->clear();
  QString title;
  if (predicted != nullptr) {
    title =
        predicted->trace.kind == "predicted" ? tr("simulated, with contention") : tr("closed form, without contention");
    if (measured_) title = tr("%1; measured below it").arg(title);
  } else if (measured_) {
    title = QString::fromStdString(measured_->name);
  }
  timeline_->show_traces(predicted != nullptr && measured_ ? std::vector<const LoadedTrace*>{predicted, measured_.get()}
                                                           : std::vector<const LoadedTrace*>{first},
                         title);
  const Evaluation* const now = evaluator_.evaluation();
  const WorkedOut* const done = before != nullptr ? before : now != nullptr ? now->done.get() : nullptr;
  topology_->set_topology(done != nullptr ? &done->topology : nullptr, predicted);
  slices_->set_trace(first);
  show_comparison();
}

void MainWindow::show_comparison() {
  if (compared_ || shown_view() != ViewTab::compare) return;
  compared_ = true;
  compare_->set_traces(shown_.empty() ? nullptr : shown_.front(), compared_with());
}

void MainWindow::show_all_soon() {
  soon_.start();
  show_state();
}

void MainWindow::show_all() {
  const Evaluation* const now = evaluator_.evaluation();
  if (form_is_behind_ && (now == nullptr || evaluator_.current())) {
    form_is_behind_ = false;
    form_->show_evaluation(now);
  }
  show_scenario_schedule();
  const bool loading = now != nullptr && now->done && !now->done->loaded;
  if (!loading) show_traces();  // until then the views keep the trace before
  show_figures();
  if (!loading) evaluator_.let_go_of_earlier();
}

void MainWindow::show_scenario_schedule() {
  const Evaluation* const now = evaluator_.evaluation();
  if (now == nullptr || !now->done || shown_view() != ViewTab::schedule) return;
  const Schedule& schedule = now->done->schedule;
  const QString name = QString("%1 %2 %3 %4")
                           .arg(QString::fromStdString(schedule.name))
                           .arg(schedule.shape.ranks)
                           .arg(schedule.shape.micro_batches)
                           .arg(schedule.shape.chunks);
  if (name == scheduled_ || !schedule_->csv_path().isEmpty() || schedule_->grid().can_undo()) return;
  scheduled_ = name;
  schedule_->show_schedule(QString::fromStdString(schedule.name), schedule.shape);
}

const Report* MainWindow::shown_report() const {
  const WorkedOut* const before = evaluator_.before_refusal();
  return before != nullptr ? &before->report : evaluator_.report();
}

void MainWindow::show_headline() {
  const Report* const report = shown_report();
  strip_->show_figures(report == nullptr ? std::vector<HeadlineFigure>{} : headline(*report, pinned_report_.get()));
}

void MainWindow::show_figures() {
  const Report* const report = shown_report();
  show_headline();
  why_->show_reports(report, report == nullptr ? nullptr : pinned_report_.get());
  show_state();
}

void MainWindow::show_state() {
  const bool open = document_.is_open();
  const bool stale = open && !evaluator_.current();
  const bool waits = open && evaluator_.simulating() && !evaluator_.fresh() && evaluator_.busy();
  const bool refused = evaluator_.before_refusal() != nullptr;
  strip_->set_stale(stale || refused);
  why_->set_stale(stale || waits || refused);
  timeline_->timeline().set_dimmed(stale || refused);
  const Evaluation* const now = evaluator_.evaluation();
  QString text;
  if (open && now != nullptr && now->done && !stale) {
    text = tr("closed form, without contention");
    if (evaluator_.fresh()) text = tr("simulated, with contention");
    if (waits) text += tr("; simulating\u2026");
    if (!evaluator_.simulation_problem().isEmpty() && !evaluator_.fresh() && !waits) text += tr("; not simulated");
  } else if (stale) {
    text = tr("working out\u2026");
  } else if (open && now != nullptr) {
    text = refused ? tr("cannot run as it stands; dimmed: the last one that could") : tr("cannot run as it stands");
  }
  state_->setText(text);
  state_->setToolTip(evaluator_.simulation_problem());
  if (unpin_ != nullptr) unpin_->setEnabled(pinned());
  const bool of_its_own = shown_view() == ViewTab::schedule || shown_view() == ViewTab::sweep;
  const bool content = has_content() || (of_its_own && stack_->currentWidget() == across_);
  if (show_start_ != nullptr && !show_start_->isChecked())
    stack_->setCurrentWidget(content ? static_cast<QWidget*>(across_) : start_);
}

void MainWindow::show_title() {
  const QString name = document_.is_open() ? document_.name()
                       : measured_         ? QString::fromStdString(measured_->name)
                                           : QString();
  setWindowTitle(name.isEmpty() ? "Stagecraft" : name + QString::fromUtf8("[*] \u2013 Stagecraft"));
  setWindowModified(document_.modified());
}

void MainWindow::leave_start_page() {
  if (show_start_ != nullptr) show_start_->setChecked(false);
  stack_->setCurrentWidget(across_);
}

/// The panel of runs says it too, but may be hidden.
void MainWindow::tell_nothing_to_run() {
  message_->tell(tr("Open a scenario first."), true);
}

void MainWindow::start_run(RunKind kind, const QString& output) {
  if (!document_.is_open()) return tell_nothing_to_run();
  leave_start_page();
  show_run_->setChecked(true);
  run_->show();
  run_->start(kind, output);
}

void MainWindow::show_view(ViewTab tab) {
  leave_start_page();
  tabs_->setCurrentIndex(static_cast<int>(tab));
}

void MainWindow::pin() {
  const Report* const report = evaluator_.report();
  const LoadedTrace* const trace = evaluator_.trace();
  if (report == nullptr || trace == nullptr) return message_->tell(tr("There are no figures to pin yet."), true);
  pinned_report_ = std::make_unique<Report>(*report);
  show_figures();
  copying_.run(
      [this, copy = trace->trace, limit = trace->memory_limit_bytes](const std::atomic<bool>& cancel) mutable {
        copied_ = make_loaded_trace(std::move(copy), QObject::tr("pinned").toStdString(), limit, &cancel);
      },
      [this] {
        drop_traces();
        pinned_trace_ = std::move(copied_);
        show_traces();
        show_figures();
      });
}

void MainWindow::unpin() {
  drop_traces();
  copying_.cancel();
  pinned_report_.reset();
  pinned_trace_.reset();
  show_traces();
  show_figures();
}

void MainWindow::show_look() {
  show_palette();
  fit_table();
  form_->show_evaluation(evaluator_.evaluation());
  form_is_behind_ = false;
  show_figures();
}

void MainWindow::show_palette() {
  const Palette palette = make_palette(current_theme().dark);
  timeline_->timeline().set_palette(palette);
  compare_->set_palette(palette);
  topology_->set_palette(palette);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  form_->finish_typing();
  save_session();
  event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile()) open_path(url.toLocalFile());
  event->acceptProposedAction();
}

}  // namespace stagecraft::gui
