#pragma once
// The points of a sweep or search as a table that grows: values, verdict, figures, reason.

#include <QAbstractTableModel>
#include <array>
#include <map>

#include "search/table.hpp"

namespace stagecraft::gui {

enum class Verdict : std::uint8_t {
  frontier,      // no other point that runs is faster with as little memory
  runs,          // and fits
  untimed,       // of a search: fits, its figures are bounds
  does_not_fit,  // timed, but some GPU's memory overflows
  cannot_run,
  failed,  // its process died; a resumed sweep tries it again
};
inline constexpr std::size_t verdict_count = 6;
Verdict verdict_of(const Point& point);
QString words_of(Verdict verdict);

class SweepPointsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Role { sort_role = Qt::UserRole, verdict_role };

  explicit SweepPointsModel(QObject* parent = nullptr);

  /// Everything anew. The front is what the table says.
  void set_table(PointTable table);
  /// Of a sweep that runs: a point that is there (one that had failed) is replaced. Marks the front.
  void add_points(std::vector<Point> points);

  const PointTable& table() const { return table_; }
  const std::vector<Point>& points() const { return table_.points; }  // by row
  const Point& point(int row) const { return table_.points[static_cast<std::size_t>(row)]; }
  std::array<std::int64_t, verdict_count> counts() const;
  /// "tensor 8, micro 2".
  QString name_of(int row) const;
  int axis_columns() const { return static_cast<int>(table_.axes.size()); }  // from column 1
  int reason_column() const { return columnCount() - 1; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QVariant text_of(const Point& point, int column) const;
  QVariant value_of(const Point& point, int column) const;
  QString axis_title(int axis) const;

  PointTable table_;
  std::map<std::int64_t, std::size_t> row_of_;  // of a point's number
};

}  // namespace stagecraft::gui
