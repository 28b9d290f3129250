#include "gui/theme/whole_column.hpp"

#include <QEvent>
#include <QHeaderView>

#include "gui/theme/look.hpp"

namespace stagecraft::gui {
namespace {

class ColumnKeeper : public QObject {
 public:
  ColumnKeeper(QTableView* table, int column) : QObject(table), table_(table), column_(column) {
    table->viewport()->installEventFilter(this);
    const QAbstractItemModel* const model = table->model();
    connect(model, &QAbstractItemModel::modelReset, this, &ColumnKeeper::fit,
            Qt::QueuedConnection);  // after the header
    follow_look(table, [this] { fit(); });
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Resize || event->type() == QEvent::Show) fit();
    return QObject::eventFilter(watched, event);
  }

 private:
  void fit() {
    QHeaderView* const header = table_->horizontalHeader();
    if (column_ >= header->count()) return;
    int others = 0;
    for (int i = 0; i < header->count(); ++i) {
      if (i == column_ || header->isSectionHidden(i)) continue;
      header->resizeSection(i, std::max(header->sectionSize(i), header->sectionSizeHint(i)));
      others += header->sectionSize(i);
    }
    const QAbstractItemView* const view = table_;
    const int needed = std::max(view->sizeHintForColumn(column_), header->sectionSizeHint(column_));
    const bool room = table_->viewport()->width() - others >= needed;
    header->setSectionResizeMode(column_, room ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
  }

  QTableView* table_;
  int column_;
};

}  // namespace

void keep_column_whole(QTableView* table, int column) {
  new ColumnKeeper(table, column);
}

}  // namespace stagecraft::gui
