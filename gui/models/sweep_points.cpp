#include "gui/models/sweep_points.hpp"

#include <QApplication>
#include <QFont>
#include <algorithm>

#include "gui/theme/theme.hpp"
#include "report/number_text.hpp"

namespace stagecraft::gui {
namespace {

/// A figure in the unit in which people read it.
struct ShownFigure {
  const char* key;
  const char* title;
  double unit;
  int digits;  // behind the point
};
constexpr std::array shown_figures{
    ShownFigure{"step_time_s", "step time (s)", 1, 3},
    ShownFigure{"tokens_per_s", "tokens/s", 1, 0},
    ShownFigure{"tflops_per_gpu", "TFLOP/s per GPU", 1, 1},
    ShownFigure{"mfu", "MFU (%)", 0.01, 1},
    ShownFigure{"bubble_fraction", "bubble (%)", 0.01, 1},
    ShownFigure{"peak_memory_bytes", "peak memory (GiB)", 1073741824.0, 1},
};
constexpr int figure_count = static_cast<int>(shown_figures.size());

double figure_of(const Point& point, const ShownFigure& shown) {
  return point.figures.*find_point_column(shown.key)->member;
}

QString figure_text(double value, const ShownFigure& shown) {
  if (shown.digits == 0) return QString::fromStdString(grouped(value / shown.unit));
  const double read = value / shown.unit;
  return read != 0 && std::abs(read) < 0.1 ? QString::number(read, 'g', 3) : QString::number(read, 'f', shown.digits);
}

/// Numbers sort as numbers.
QVariant sortable(const std::string& text) {
  bool number = false;
  const QString word = QString::fromStdString(text);
  const double value = word.toDouble(&number);
  return number ? QVariant(value) : QVariant(word);
}

QString last_key(const std::string& path) {
  return QString::fromStdString(path.substr(path.find_last_of("./") + 1)).replace('_', ' ');
}

}  // namespace

Verdict verdict_of(const Point& point) {
  switch (point.status) {
    case PointStatus::ok:
      return point.on_front ? Verdict::frontier : point.reason.empty() ? Verdict::runs : Verdict::untimed;
    case PointStatus::does_not_fit:
      return Verdict::does_not_fit;
    case PointStatus::infeasible:
      return Verdict::cannot_run;
    case PointStatus::failed:
      return Verdict::failed;
  }
  return Verdict::failed;
}

QString words_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::frontier:
      return SweepPointsModel::tr("frontier");
    case Verdict::runs:
      return SweepPointsModel::tr("runs");
    case Verdict::untimed:
      return SweepPointsModel::tr("not timed");
    case Verdict::does_not_fit:
      return SweepPointsModel::tr("does not fit");
    case Verdict::cannot_run:
      return SweepPointsModel::tr("cannot run");
    case Verdict::failed:
      return SweepPointsModel::tr("failed");
  }
  return {};
}

SweepPointsModel::SweepPointsModel(QObject* parent) : QAbstractTableModel(parent) {}

void SweepPointsModel::set_table(PointTable table) {
  beginResetModel();
  table_ = std::move(table);
  row_of_.clear();
  for (std::size_t row = 0; row < table_.points.size(); ++row) row_of_[table_.points[row].number] = row;
  endResetModel();
}

// A point that is dominated stays so whatever comes: only the front so far and the new ones are held against each
// other.
void SweepPointsModel::add_points(std::vector<Point> points) {
  std::vector<Point> contest;
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table_.points.size(); ++row) {
    if (!table_.points[row].on_front) continue;
    contest.push_back(table_.points[row]);
    rows.push_back(row);
  }
  std::size_t next = table_.points.size();
  for (Point& point : points) {
    const auto [known, added] = row_of_.try_emplace(point.number, next);
    next += added ? 1 : 0;
    const auto again = std::find(rows.begin(), rows.end(), known->second);
    if (again != rows.end()) {
      contest[static_cast<std::size_t>(again - rows.begin())] = std::move(point);
    } else {
      contest.push_back(std::move(point));
      rows.push_back(known->second);
    }
  }
  mark_front(contest, objectives_of(table_.objectives));
  const bool grows = next > table_.points.size();
  if (grows) beginInsertRows({}, static_cast<int>(table_.points.size()), static_cast<int>(next) - 1);
  table_.points.resize(next);
  for (std::size_t i = 0; i < rows.size(); ++i) table_.points[rows[i]] = std::move(contest[i]);
  if (grows) endInsertRows();
  if (rows.empty()) return;
  const auto [first, last] = std::minmax_element(rows.begin(), rows.end());
  Q_EMIT dataChanged(index(static_cast<int>(*first), 0), index(static_cast<int>(*last), columnCount() - 1));
}

std::array<std::int64_t, verdict_count> SweepPointsModel::counts() const {
  std::array<std::int64_t, verdict_count> counts{};
  for (const Point& point : table_.points) ++counts[static_cast<std::size_t>(verdict_of(point))];
  return counts;
}

QString SweepPointsModel::axis_title(int axis) const {
  const std::string& path = table_.axes[static_cast<std::size_t>(axis)].path;
  const QString title = last_key(path);
  const auto same = std::count_if(table_.axes.begin(), table_.axes.end(),
                                  [&](const SweepAxis& other) { return last_key(other.path) == title; });
  return same > 1 ? QString::fromStdString(path) : title;
}

QString SweepPointsModel::name_of(int row) const {
  QStringList parts;
  for (int axis = 0; axis < axis_columns(); ++axis)
    parts.append(axis_title(axis) + " " + QString::fromStdString(point(row).values[static_cast<std::size_t>(axis)]));
  return parts.join(", ");
}

int SweepPointsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.points.size());
}

// number, axes, verdict, figures, reason
int SweepPointsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : axis_columns() + figure_count + 3;
}

QVariant SweepPointsModel::text_of(const Point& point, int column) const {
  if (column == 0) return QString::number(point.number);
  if (column <= axis_columns()) return QString::fromStdString(point.values[static_cast<std::size_t>(column - 1)]);
  if (column == axis_columns() + 1) return words_of(verdict_of(point));
  if (column == reason_column()) return QString::fromStdString(point.reason);
  if (!has_figures(point)) return {};
  const ShownFigure& shown = shown_figures[static_cast<std::size_t>(column - axis_columns() - 2)];
  return figure_text(figure_of(point, shown), shown);
}

QVariant SweepPointsModel::value_of(const Point& point, int column) const {
  if (column == 0) return static_cast<qlonglong>(point.number);
  if (column <= axis_columns()) return sortable(point.values[static_cast<std::size_t>(column - 1)]);
  if (column == axis_columns() + 1)  // of one verdict, the fastest first
    return static_cast<double>(verdict_of(point)) + 1 / (1 + point.figures.tokens_per_s);
  if (column == reason_column()) return QString::fromStdString(point.reason);
  if (!has_figures(point)) return {};
  return figure_of(point, shown_figures[static_cast<std::size_t>(column - axis_columns() - 2)]);
}

QVariant SweepPointsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Point& point = table_.points[static_cast<std::size_t>(index.row())];
  const int column = index.column();
  const bool figure = column > axis_columns() + 1 && column < reason_column();
  switch (role) {
    case Qt::DisplayRole:
      return text_of(point, column);
    case sort_role:
      return value_of(point, column);
    case verdict_role:
      return static_cast<int>(verdict_of(point));
    case Qt::ToolTipRole:
      return column == reason_column() && !point.reason.empty()
                 ? QVariant(QString::fromStdString(point.reason).replace("; ", "\n"))
                 : QVariant();
    case Qt::TextAlignmentRole:
      return static_cast<int>((figure || column == 0 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole:
      return point.on_front ? QVariant(scaled_font(1, QFont::DemiBold)) : QVariant();
    case Qt::ForegroundRole: {
      const Theme theme = current_theme();
      const Verdict verdict = verdict_of(point);
      if (column == axis_columns() + 1 && verdict == Verdict::frontier) return theme.accent;
      if (column == axis_columns() + 1 && verdict > Verdict::untimed) return theme.bad;
      return verdict > Verdict::runs ? QVariant(theme.faint) : QVariant();
    }
    default:
      return {};
  }
}

QVariant SweepPointsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const int axes = axis_columns();
  const bool axis = section > 0 && section <= axes;
  const bool figure = section > axes + 1 && section < reason_column();
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((figure || section == 0 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole) {
    if (axis) return QString::fromStdString(table_.axes[static_cast<std::size_t>(section - 1)].path);
    if (figure) return tr(find_point_column(shown_figures[static_cast<std::size_t>(section - axes - 2)].key)->meaning);
    return {};
  }
  if (role != Qt::DisplayRole) return {};
  if (section == 0) return tr("point");
  if (axis) return axis_title(section - 1);
  if (section == axes + 1) return tr("verdict");
  if (section == reason_column()) return tr("reason");
  return tr(shown_figures[static_cast<std::size_t>(section - axes - 2)].title);
}

}  // namespace stagecraft::gui
