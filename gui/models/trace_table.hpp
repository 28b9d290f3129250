#pragma once
// A table that is filled at once: texts to read, values to sort by, and what each line stands for.

#include <QAbstractTableModel>
#include <cstdint>
#include <vector>

namespace stagecraft::gui {

struct Cell {
  QString text;
  QVariant value;  // under Qt::UserRole, for sorting; invalid: the text
  bool number = true;
};

struct PlainTable {
  QStringList headers;
  QStringList explanations;  // tool tips of the headers; may be empty
  int word_columns = 1;      // from the left, whose titles stand at the left as their cells do
  std::vector<std::vector<Cell>> lines;
  std::vector<std::uint32_t> tags;  // one per line, or none
};

class PlainTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit PlainTableModel(QObject* parent = nullptr);
  void set_table(PlainTable table);
  std::uint32_t tag_of(int row) const;  // 0xffffffff if it has none

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  PlainTable table_;
};

}  // namespace stagecraft::gui
