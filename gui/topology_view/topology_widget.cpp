#include "gui/topology_view/topology_widget.hpp"

#include <QtWidgets>

#include "gui/theme/look.hpp"
#include "gui/theme/whole_column.hpp"
#include "gui/topology_view/paint_topology.hpp"

namespace stagecraft::gui {
namespace {

/// The drawing alone.
class Canvas : public QWidget {
 public:
  explicit Canvas(QWidget* parent) : QWidget(parent) {
    setMinimumWidth(200);
    setAccessibleName(QStringLiteral("Topology"));
  }
  TopologyPicture picture;

  bool smaller = false;  // where there is no room for all of it, rather than scrolled

  /// What is lower than the window lets it be is scrolled.
  void fit() { setMinimumHeight(smaller ? 0 : least_height(picture, width())); }

 protected:
  void resizeEvent(QResizeEvent*) override { fit(); }
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    picture.font = font();
    const double scale = smaller ? scale_that_fits(picture, size()) : 1;
    painter.scale(scale, scale);
    paint_topology(painter, (QSizeF(size()) / scale).toSize(), picture);
    if (picture.topology == nullptr) {
      painter.drawText(rect(), Qt::AlignCenter, QStringLiteral("No cluster is open"));
    }
  }
};

}  // namespace

struct TopologyWidget::State {
  const Topology* topology = nullptr;
  const LoadedTrace* loaded = nullptr;
  double begin_s = 0, end_s = 0;
  Palette palette = make_palette(false);
  Canvas* canvas = nullptr;
  QLabel* headline = nullptr;
  PlainTableModel* links = nullptr;

  void refresh() {
    canvas->picture = {};
    if (topology != nullptr) canvas->picture = make_topology_picture(*topology, loaded, begin_s, end_s);
    canvas->picture.palette = palette;
    headline->setText(topology == nullptr ? QString()
                      : loaded == nullptr ? QStringLiteral("No trace is open: links are drawn without loads.")
                                          : bottleneck_text(canvas->picture.loads, end_s - begin_s, *loaded));
    canvas->setAccessibleDescription(headline->text());
    links->set_table(link_table(canvas->picture.loads));
    canvas->fit();
    canvas->update();
  }
};

TopologyWidget::TopologyWidget(QWidget* parent) : QWidget(parent), state_(std::make_unique<State>()) {
  State& s = *state_;
  s.canvas = new Canvas(this);
  s.headline = new QLabel(this);
  s.headline->setContentsMargins(12, 8, 12, 8);
  s.headline->setWordWrap(true);
  s.headline->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  s.links = new PlainTableModel(this);
  s.links->set_table(link_table({}));  // the columns
  auto* proxy = new QSortFilterProxyModel(this);
  proxy->setSourceModel(s.links);
  proxy->setSortRole(Qt::UserRole);
  auto* table = new QTableView(this);
  table->setModel(proxy);
  table->setAccessibleName(tr("Links"));
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setShowGrid(false);
  table->setAlternatingRowColors(true);
  table->verticalHeader()->hide();
  set_row_height(table, 6);
  keep_column_whole(table, 0);
  table->setSortingEnabled(true);
  table->sortByColumn(4, Qt::DescendingOrder);
  auto* splitter = new QSplitter(Qt::Vertical, this);
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(s.canvas);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setMinimumHeight(100);
  splitter->addWidget(scroll);
  splitter->addWidget(table);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(s.headline);
  layout->addWidget(splitter, 1);
}

TopologyWidget::~TopologyWidget() = default;

void TopologyWidget::set_topology(const Topology* topology, const LoadedTrace* loaded) {
  state_->topology = topology;
  state_->loaded = loaded;
  state_->begin_s = loaded != nullptr ? loaded->trace.begin_s : 0;
  state_->end_s = loaded != nullptr ? loaded->trace.end_s : 0;
  state_->refresh();
}

void TopologyWidget::set_range(double begin_s, double end_s) {
  state_->begin_s = begin_s;
  state_->end_s = end_s;
  state_->refresh();
}

void TopologyWidget::show_whole() {
  state_->canvas->smaller = true;
  state_->canvas->fit();
}

void TopologyWidget::set_palette(const Palette& palette) {
  state_->palette = palette;
  state_->refresh();
}

}  // namespace stagecraft::gui
