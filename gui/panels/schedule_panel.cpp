#include "gui/panels/schedule_panel.hpp"

#include <QFileInfo>
#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "gui/panels/flow_layout.hpp"
#include "gui/panels/padded_delegate.hpp"
#include "gui/panels/tall_page.hpp"
#include "gui/theme/combo.hpp"
#include "gui/theme/look.hpp"
#include "report/number_text.hpp"

namespace stagecraft::gui {
namespace {

QString number(double value) {
  return QString::number(value, 'g', 5);
}

QString figures_text(const Analysis& analysis) {
  double peak = 0;
  for (const RankAnalysis& rank : analysis.ranks) peak = std::max(peak, rank.peak_activations);
  return SchedulePanel::tr(
             "makespan <b>%1</b> &nbsp;&nbsp; bubble <b>%2</b> &nbsp;&nbsp; peak activations <b>%3</b> "
             "micro-batches &nbsp;&nbsp; messages <b>%4</b>")
      .arg(number(analysis.makespan), QString::fromStdString(percent(makespan_bubble_rate(analysis))), number(peak))
      .arg(analysis.messages);
}

}  // namespace

SchedulePanel::SchedulePanel(QWidget* parent)
    : QWidget(parent),
      grid_(new ScheduleGrid(this)),
      view_(new ScheduleView(*grid_, this)),
      table_(new QTableView(this)),
      twins_(new QStackedWidget(this)),
      name_(new Combo(this)),
      summary_(new QLabel(this)),
      verdict_(new QLabel(this)),
      figures_(new QLabel(this)),
      selection_(new QLabel(this)),
      controls_(new QWidget(this)) {
  build_controls();
  table_->setModel(grid_);
  table_->setAccessibleName(tr("Schedule as a table"));
  table_->setItemDelegate(new PaddedDelegate(table_));
  set_row_height(table_, 10);
  follow_look(this, [this] {
    const QFontMetrics metrics(QApplication::font());
    table_->horizontalHeader()->setDefaultSectionSize(metrics.horizontalAdvance("00SEND_F000") +
                                                      2 * PaddedDelegate::padding);
  });
  twins_->addWidget(view_);
  twins_->addWidget(table_);
  summary_->setForegroundRole(QPalette::PlaceholderText);
  summary_->setWordWrap(true);
  verdict_->setWordWrap(true);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  verdict_->setTextFormat(Qt::PlainText);
  selection_->setWordWrap(true);

  figures_->setWordWrap(true);
  twins_->setMinimumHeight(120);
  auto* const column = new QVBoxLayout;
  column->setContentsMargins(gap * 2, gap * 2, gap * 2, gap);
  column->setSpacing(gap);
  column->addWidget(controls_);
  column->addWidget(summary_);
  column->addWidget(figures_);
  column->addWidget(twins_, 1);
  column->addWidget(verdict_);
  column->addWidget(selection_);
  auto* const whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(make_tall_page(column, this));

  connect(grid_, &ScheduleGrid::changed, this, &SchedulePanel::show_verdict);
  connect(grid_, &ScheduleGrid::changed, this, &SchedulePanel::tell_if_not_kept);
  connect(grid_, &ScheduleGrid::changed, this, [this] { describe(view_->selected()); });
  connect(view_, &ScheduleView::selection_changed, this, &SchedulePanel::describe);
  connect(view_, &ScheduleView::undo_wanted, this, &SchedulePanel::undo);
  connect(view_, &ScheduleView::drag_described, this, [this](const QString& text) {
    if (text.isEmpty()) return Q_EMIT view_->selection_changed(view_->selected());
    set_ink(selection_, Ink::warning);
    selection_->setText(text);
  });
  Q_EMIT view_->selection_changed({});
  show_schedule("1f1b", {4, 8, 1});
}

void SchedulePanel::build_controls() {
  auto* const flow = new FlowLayout(gap, controls_);
  const auto labelled = [&](const QString& title, QWidget* widget, const QString& help) {
    auto* const box = new QWidget(controls_);
    auto* const row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 4, 0);
    row->setSpacing(5);
    auto* const label = new QLabel(title, box);
    label->setForegroundRole(QPalette::PlaceholderText);
    label->setBuddy(widget);
    widget->setToolTip(help);
    widget->setAccessibleName(help);
    row->addWidget(label);
    row->addWidget(widget);
    flow->addWidget(box);
  };
  for (const FamilyEntry& entry : schedule_family()) name_->addItem(entry.name);
  name_->setMinimumContentsLength(16);
  labelled(tr("Schedule"), name_, tr("Schedule"));
  const auto whole = [&](QSpinBox*& box, const QString& title, int most, int value, const QString& help) {
    box = new QSpinBox(controls_);
    box->setRange(1, most);
    box->setValue(value);
    set_width_of(box, "00000", 22);
    labelled(title, box, help);
    connect(box, &QSpinBox::valueChanged, this, &SchedulePanel::generate);
  };
  whole(ranks_, "p", 4096, 4, tr("p: pipeline ranks"));
  whole(micro_batches_, "m", 1 << 20, 8, tr("m: micro-batches"));
  whole(chunks_, "v", 1024, 1, tr("v: virtual stages per rank"));
  const auto real = [&](QDoubleSpinBox*& box, const QString& title, double value, const QString& help) {
    box = new QDoubleSpinBox(controls_);
    box->setRange(0, 1e6);
    box->setDecimals(3);
    box->setSingleStep(0.1);
    box->setValue(value);
    set_width_of(box, "0.000", 26);
    labelled(title, box, help);
    connect(box, &QDoubleSpinBox::valueChanged, this, &SchedulePanel::take_times);
  };
  real(forward_, "F", 1, tr("F: time of a forward of one stage"));
  real(input_grad_, "I", 1, tr("I: time of an input gradient"));
  real(weight_grad_, "W", 1, tr("W: time of a weight gradient"));
  real(send_, tr("send"), 0, tr("time of a message"));
  const auto button = [&](const QString& title, const QString& help) {
    auto* const added = new QPushButton(title, controls_);
    added->setToolTip(help);
    flow->addWidget(added);
    return added;
  };
  connect(button(tr("&Load CSV\u2026"), tr("PyTorch's pipelining CSV")), &QPushButton::clicked, this,
          &SchedulePanel::load_wanted);
  connect(button(tr("S&ave CSV\u2026"), tr("Runs in PyTorch and torchtitan")), &QPushButton::clicked, this,
          &SchedulePanel::save_wanted);
  undo_ = button(tr("&Undo move"), tr("Puts the last moved operation back"));
  undo_->setShortcut(QKeySequence());
  connect(undo_, &QPushButton::clicked, this, &SchedulePanel::undo);
  as_table_ = button(tr("As &table"), tr("The same operations as a table"));
  as_table_->setCheckable(true);
  connect(as_table_, &QPushButton::toggled, this, [this](bool table) {
    if (table && grid_->operations() > most_grid_operations) {
      Q_EMIT status(
          tr("%1 operations are too many for a table; at most %2").arg(grid_->operations()).arg(most_grid_operations));
      return as_table_->setChecked(false);
    }
    twins_->setCurrentIndex(table ? 1 : 0);
  });
  connect(name_, &QComboBox::currentTextChanged, this, [this] {
    const FamilyEntry* const entry = find_schedule(name_->currentText().toStdString());
    allow_shape(entry);
    if (entry != nullptr && (!chunks_->isEnabled() || chunks_->value() < 2)) {
      const QSignalBlocker quiet(chunks_);
      chunks_->setValue(usual_chunks(*entry));
    }
    generate();
  });
}

void SchedulePanel::describe(Slot slot) {
  const QString name = grid_->name_of(slot);
  set_ink(selection_, Ink::faint);
  selection_->setText(name.isEmpty()
                          ? tr("A schedule orders the operations of each rank: drag one along its row, or select it "
                               "with the arrows and move it with Ctrl+Left and Ctrl+Right.")
                          : tr("%1 on rank %2, place %3. Drag it along its row, or move it with Ctrl+Left and "
                               "Ctrl+Right.")
                                .arg(name)
                                .arg(slot.rank)
                                .arg(slot.position));
}

StageTimes SchedulePanel::times() const {
  StageTimes times;
  times.forward = {forward_->value()};
  times.input_grad = {input_grad_->value()};
  times.weight_grad = {weight_grad_->value()};
  times.send = send_->value();
  return times;
}

/// The shape of a file, null, is the file's.
void SchedulePanel::allow_shape(const FamilyEntry* entry) {
  ranks_->setEnabled(entry != nullptr);
  micro_batches_->setEnabled(entry != nullptr);
  chunks_->setEnabled(entry != nullptr && (entry->chunks == ChunkRule::any || entry->chunks == ChunkRule::two_or_more));
}

/// Moves are kept: they are the user's, whatever an operation takes.
void SchedulePanel::take_times() {
  const FamilyEntry* const entry = find_schedule(name_->currentText().toStdString());
  const bool untouched = origin_.csv.isEmpty() && !grid_->can_undo();
  if (untouched && (grid_->empty() || (entry != nullptr && entry->searched)))
    return generate();  // the order may follow
  grid_->set_times(times());
}

/// What comes next takes the place of a table that holds moves.
void SchedulePanel::keep_moves() {
  if (grid_->can_undo()) replaced_.push_back({grid_->hand_made(), origin_});
}

/// With the first move, not at the end: then it is too late to save the table.
void SchedulePanel::tell_if_not_kept() {
  const bool lost = grid_->can_undo() && grid_->operations() > most_kept_operations;
  if (lost && !told_not_kept_)
    Q_EMIT status(tr("%1 operations are too many to come back at the next start with their moves, at most %2 do: save "
                     "the schedule as CSV to keep it.")
                      .arg(grid_->operations())
                      .arg(most_kept_operations));
  told_not_kept_ = lost;
}

void SchedulePanel::undo() {
  if (grid_->can_undo()) return view_->select(grid_->undo());
  if (replaced_.empty()) return;
  const MovedTable back = std::move(replaced_.back());
  replaced_.pop_back();
  show_moved(back);
}

void SchedulePanel::show_moved(const MovedTable& moved) {
  origin_ = moved.origin;
  show_controls(origin_, moved.table.schedule.shape);
  grid_->bring_back(moved.table, times());
}

std::vector<MovedTable> SchedulePanel::moved_tables() const {
  std::vector<MovedTable> tables = replaced_;
  if (grid_->can_undo()) tables.push_back({grid_->hand_made(), origin_});
  return tables;
}

void SchedulePanel::bring_back(std::vector<MovedTable> tables, bool show_last) {
  replaced_ = std::move(tables);
  if (show_last && !replaced_.empty() && !grid_->can_undo()) return undo();
  show_verdict();  // and what the button that undoes says
}

std::vector<double> SchedulePanel::times_shown() const {
  std::vector<double> times;
  for (const QDoubleSpinBox* const box : time_boxes()) times.push_back(box->value());
  return times;
}

void SchedulePanel::show_times(const std::vector<double>& times) {
  const std::vector<QDoubleSpinBox*> boxes = time_boxes();
  for (std::size_t i = 0; i < std::min(times.size(), boxes.size()); ++i) {
    const QSignalBlocker quiet(boxes[i]);
    if (std::isfinite(times[i])) boxes[i]->setValue(times[i]);
  }
  take_times();
}

void SchedulePanel::show_controls(const ScheduleOrigin& origin, const PipelineShape& shape) {
  const QSignalBlocker quiet_name(name_), quiet_p(ranks_), quiet_m(micro_batches_), quiet_v(chunks_);
  const FamilyEntry* const entry = find_schedule(origin.name.toStdString());
  name_->setPlaceholderText(QFileInfo(origin.csv).fileName());
  if (!origin.csv.isEmpty()) name_->setCurrentIndex(-1);
  if (entry != nullptr) name_->setCurrentText(entry->name);
  allow_shape(entry);
  ranks_->setValue(shape.ranks);
  micro_batches_->setValue(shape.micro_batches);
  chunks_->setValue(shape.chunks);
}

void SchedulePanel::generate() {
  keep_moves();
  origin_ = {name_->currentText(), {}};
  grid_->generate(name_->currentText().toStdString(), {ranks_->value(), micro_batches_->value(), chunks_->value()},
                  times());
}

void SchedulePanel::show_schedule(const QString& name, const PipelineShape& shape) {
  show_controls({find_schedule(name.toStdString()) == nullptr ? name_->currentText() : name, {}}, shape);
  generate();
}

void SchedulePanel::load_csv(const QString& path) {
  MovedTable before{grid_->hand_made(), origin_};
  grid_->load_csv(path.toStdString());
  if (!before.table.moves.empty()) replaced_.push_back(std::move(before));
  origin_ = {{}, path};
  show_controls(origin_, grid_->schedule().shape);
  grid_->set_times(times());
}

void SchedulePanel::save_csv(const QString& path) const {
  grid_->save_csv(path.toStdString());
}

void SchedulePanel::show_verdict() {
  const FamilyEntry* const entry = find_schedule(name_->currentText().toStdString());
  if (!origin_.csv.isEmpty()) {
    summary_->setText(tr("The file %1, whose p, m and v are its own; pick a schedule to leave it").arg(origin_.csv));
  } else if (entry != nullptr) {
    summary_->setText(QString("%1 (%2)").arg(entry->summary, entry->source));
  }
  const bool at_moves = grid_->can_undo() || replaced_.empty();
  undo_->setText(at_moves ? tr("&Undo move") : tr("Back to my &moves"));
  undo_->setToolTip(at_moves
                        ? tr("Puts the last moved operation back")
                        : tr("The table with the operations that you moved, as it was before another took its place"));
  undo_->setEnabled(grid_->can_undo() || !replaced_.empty());
  const bool refused = has_errors(grid_->refusals());
  const Findings& findings = refused ? grid_->refusals() : grid_->verdict();
  const bool wrong = refused || has_errors(findings);
  figures_->setText(grid_->empty() ? QString()
                    : wrong        ? tr("no figures: as it stands the schedule does not run to its end")
                                   : figures_text(grid_->analysis()));
  if (findings.empty()) {
    verdict_->setText(tr("\u2713 %1 operations proved: complete, in order, every message matched, no deadlock")
                          .arg(grid_->operations()));
    return set_ink(verdict_, Ink::good);
  }
  QStringList lines;
  for (std::size_t i = 0; i < std::min<std::size_t>(findings.size(), 4); ++i) {
    QString line = QString::fromUtf8(wrong ? "\u2715 " : "") + QString::fromStdString(findings[i].message);
    if (line.count('\n') > 8) line = line.section('\n', 0, 7) + "\n...";
    if (!findings[i].nearest.empty()) line += tr("; nearest: %1").arg(QString::fromStdString(findings[i].nearest));
    lines.append(line);
  }
  if (findings.size() > 4) lines.append(tr("and %1 more").arg(findings.size() - 4));
  verdict_->setText(lines.join("\n"));
  set_ink(verdict_, wrong ? Ink::bad : Ink::warning);
}

}  // namespace stagecraft::gui
