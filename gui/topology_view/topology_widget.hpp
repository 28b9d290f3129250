#pragma once
// Nodes, GPUs and links of a cluster with the bytes and the utilisation of every link over a stretch of time.

#include <QWidget>
#include <memory>

#include "gui/models/trace_rows.hpp"
#include "gui/timeline/palette.hpp"
#include "topology/topology.hpp"

namespace stagecraft::gui {

class TopologyWidget : public QWidget {
  Q_OBJECT

 public:
  explicit TopologyWidget(QWidget* parent = nullptr);
  ~TopologyWidget() override;
  /// Both stay the caller's; the trace may be null: then no link has a load.
  void set_topology(const Topology* topology, const LoadedTrace* loaded);
  void set_range(double begin_s, double end_s);  // of the loads
  void set_palette(const Palette& palette);
  /// What has no room is drawn smaller, not scrolled: for pictures of a given size.
  void show_whole();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stagecraft::gui
