#include "gui/sweep/axis_list.hpp"

#include <algorithm>

#include "base/input_error.hpp"
#include "gui/theme/theme.hpp"
#include "report/number_text.hpp"
#include "search/space.hpp"

namespace stagecraft::gui {
namespace {

/// Why a search cannot be restricted to these values; "" if it can.
QString why_no_search(std::vector<SweepAxis> axes) {
  try {
    SearchSpace space;
    for (SweepAxis& axis : axes) {
      restrict_space(space, axis);
      axis.values.resize(1);
    }
    (void)count_points(axes);  // no path twice
  } catch (const InputError& error) {
    return QString::fromStdString(error.what());
  }
  return {};
}

}  // namespace

AxisList::AxisList(const std::vector<FormField>& fields, QWidget* parent)
    : QWidget(parent), fields_(fields), column_(new QVBoxLayout), summary_(new QLabel(this)) {
  auto* const more = new QPushButton(tr("Vary another field"), this);
  more->setProperty("kind", "quiet");
  connect(more, &QPushButton::clicked, this, [this] { add({})->path().setFocus(); });
  auto* const foot = new QHBoxLayout;
  foot->addWidget(more);
  foot->addStretch(1);
  foot->addWidget(summary_);
  auto* const whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->setSpacing(gap - 4);
  column_->setSpacing(gap - 4);
  whole->addLayout(column_);
  whole->addLayout(foot);
  judge();
}

AxisRow* AxisList::add(const QString& text) {
  auto* const row = new AxisRow(fields_, text, this);
  connect(row, &AxisRow::changed, this, &AxisList::judge);
  connect(row, &AxisRow::removed, this, [this, row] {
    std::erase(rows_, row);
    row->hide();
    row->deleteLater();
    judge();
  });
  rows_.push_back(row);
  column_->addWidget(row);
  judge();
  return row;
}

QStringList AxisList::texts() const {
  QStringList texts;
  for (const AxisRow* const row : rows_)
    if (!row->text().startsWith('=')) texts.append(row->text());
  return texts;
}

void AxisList::set_texts(const QStringList& texts) {
  for (AxisRow* const row : rows_) {
    row->hide();
    row->deleteLater();
  }
  rows_.clear();
  for (const QString& text : texts) add(text);
  judge();
}

void AxisList::show_axes(const std::vector<SweepAxis>& axes) {
  std::vector<SweepAxis> here;
  for (const AxisRow* const row : rows_) {
    if (const auto axis = row->axis()) here.push_back(*axis);
  }
  const auto same = [](const SweepAxis& a, const SweepAxis& b) { return a.path == b.path && a.values == b.values; };
  if (here.size() == rows_.size() && std::equal(here.begin(), here.end(), axes.begin(), axes.end(), same)) return;
  QStringList texts;
  for (const SweepAxis& axis : axes) {
    QStringList values;
    for (const std::string& value : axis.values) values.append(QString::fromStdString(value));
    texts.append(QString::fromStdString(axis.path) + "=" + values.join(','));
  }
  set_texts(texts);
}

void AxisList::judge() {
  problem_.clear();
  search_problem_.clear();
  points_ = 0;
  std::vector<SweepAxis> axes;
  for (const AxisRow* const row : rows_) {
    if (row->text().startsWith('=')) continue;
    if (const auto axis = row->axis()) {
      axes.push_back(*axis);
    } else {
      problem_ = row->why().isEmpty() ? tr("%1: give values, as in 1,2,4 or 1..8 or 1..64*2").arg(row->text())
                                      : tr("%1: %2").arg(row->text().section('=', 0, 0), row->why());
    }
  }
  search_problem_ = problem_.isEmpty() ? why_no_search(axes) : problem_;
  if (axes.empty() && problem_.isEmpty()) problem_ = tr("Choose a field to vary first.");
  if (problem_.isEmpty()) {
    try {
      points_ = count_points(axes);
    } catch (const InputError& error) {
      problem_ = QString::fromStdString(error.what());
    }
  }
  show_summary();
  Q_EMIT changed();
}

void AxisList::show_summary() {
  const QString count = QString::fromStdString(grouped(static_cast<double>(points_)));
  QString text = points_ == 0 ? QString() : points_ == 1 ? tr("1 point") : tr("%1 points").arg(count);
  if (!text.isEmpty() && !search_problem_.isEmpty()) text += tr("; not for a search");
  summary_->setText(text);
  summary_->setToolTip(search_problem_);
}

}  // namespace stagecraft::gui
