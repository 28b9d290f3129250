// The comparison and the topology view.
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>
#include <fstream>

#include "gui/compare/compare_widget.hpp"
#include "gui/models/trace_link_load.hpp"
#include "gui/models/trace_open.hpp"
#include "gui/timeline/timeline_widget.hpp"
#include "gui/topology_view/paint_topology.hpp"
#include "gui/topology_view/topology_widget.hpp"
#include "gui_traces.hpp"
#include "spec/scenario.hpp"
#include "topology/topology.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

Topology selene() {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  return build_topology(load_scenario(root + "/scenarios/gpt-145b-selene.json", {}, default_library("")).cluster);
}

struct LinkRate {
  std::string name;
  double bytes_per_s;
};

/// A pipeline in which these links carry so much for the whole step.
std::unique_ptr<const LoadedTrace> with_link_series(const std::vector<LinkRate>& rates) {
  Trace trace = pipeline(4, 4);
  for (const LinkRate& rate : rates)
    trace.counters.push_back({"link/" + rate.name, "B/s", -1, {0.0}, {rate.bytes_per_s}});
  return make_loaded_trace(std::move(trace), "with links");
}

/// Its first node sends at half of its first NIC's rate.
std::unique_ptr<const LoadedTrace> loaded_with_links(const Topology& topology) {
  const auto nominal = [&](const std::string& name) {
    for (const Link& link : topology.node_links) {
      if (link.name == name) return link.nominal.value;
    }
    return 0.0;
  };
  return with_link_series({{"node0/nic0/up", 0.5 * nominal("nic0/up")},
                           {"node1/nic0/down", 0.25 * nominal("nic0/down")},
                           {"node0/gpu0->nvswitch", 0.9 * nominal("gpu0->nvswitch")},
                           {"node0/gpu0->pcie0", 0}});
}

}  // namespace

TEST_CASE("the bottleneck is the link that is used most of its rate") {
  const Topology topology = selene();
  const auto loaded = loaded_with_links(topology);
  const double end = loaded->trace.end_s;
  const std::vector<LinkLoad> loads = link_loads(topology, *loaded, 0, end);
  REQUIRE(loads.size() == 4);
  CHECK(loads[0].name == "node0/gpu0->nvswitch");
  CHECK(loads[0].utilisation() == Approx(0.9));
  CHECK(loads[1].utilisation() == Approx(0.5));
  CHECK(loads[1].bytes == Approx(0.5 * loads[1].rate_bytes_per_s * end));
  CHECK(loads[3].bytes == 0);
  CHECK(bottleneck_text(loads, end, *loaded).startsWith("Bottleneck: node0/gpu0->nvswitch, 90 %"));
  const TopologyPicture picture = make_topology_picture(topology, loaded.get(), 0, end);
  CHECK(picture.nodes == std::vector<std::int32_t>{0, 1});
  CHECK(picture.nodes_left_out == topology.cluster.nodes - 2);
}

TEST_CASE("a link that is hardly used is no bottleneck, and what is not counted is told with its share") {
  const Topology topology = selene();
  Trace trace = pipeline(4, 4);
  trace.kind = "predicted";
  trace.counters.push_back({"link/node0/nic0/up", "B/s", -1, {0.0}, {1e8}});
  trace.provenance.push_back({uncounted_key, "tensor_communication,data_communication"});
  const auto loaded = make_loaded_trace(trace, "with links");
  const double end = loaded->trace.end_s;
  const QString text = bottleneck_text(link_loads(topology, *loaded, 0, end), end, *loaded);
  CHECK(text.startsWith("Busiest counted link: node0/nic0/up, 0 %"));
  CHECK(text.contains("at its peak"));
  CHECK_FALSE(text.contains("Bottleneck"));
  const double part = loaded->critical_s[static_cast<std::size_t>(TimeClass::tensor_communication)] / end;
  CHECK(part > 0.01);
  CHECK(
      text.endsWith(QString("Tensor-parallel communication (%1 % of the critical path) and data-parallel communication "
                            "have their links to themselves and are not counted.")
                        .arg(100 * part, 0, 'f', 1)));
}

TEST_CASE("a trace without link counters says why, by what it is") {
  const auto text_of = [](const char* kind, const char* uncounted) {
    Trace trace = pipeline(2, 2);
    trace.kind = kind;
    if (*uncounted != '\0') trace.provenance.push_back({uncounted_key, uncounted});
    const auto loaded = make_loaded_trace(std::move(trace), kind);
    return bottleneck_text({}, loaded->trace.end_s, *loaded);
  };
  CHECK(text_of("predicted", "") == "The trace holds no link counters.");
  CHECK(text_of("predicted", "none") == "Nothing is sent over a link in this step.");
  CHECK(text_of("predicted", "data_communication") ==
        "No two kinds of traffic share a link in this step, so none is counted. Data-parallel communication has its "
        "links to itself and is not counted.");
  CHECK(text_of("estimated", "").startsWith("The closed form counts no links"));
  CHECK(text_of("measured", "") == "A measurement holds no loads of links.");
}

TEST_CASE("nodes of other kinds have wires and rates of their own") {
  const Library library{{STAGECRAFT_SOURCE_DIR "/scenarios", STAGECRAFT_SOURCE_DIR "/topologies"}};
  const Scenario mixed = load_scenario(STAGECRAFT_SOURCE_DIR "/scenarios/gpt-18.4b-a100-h100.json", {}, library);
  const Topology topology = build_topology(mixed.cluster);
  // Two GPUs share a PCIe switch of an A100 node; an H100 node has four more, each with a wire to its CPU.
  CHECK(wires_of_node(topology, 2).size() == wires_of_node(topology, 0).size() + 2 * 4);
  const auto loaded = with_link_series({{"node0/nic0/up", 1e9}, {"node2/nic0/up", 1e9}, {"node2/pcie7->cpu1", 1e9}});
  const std::vector<LinkLoad> loads = link_loads(topology, *loaded, 0, loaded->trace.end_s);
  REQUIRE(loads.size() == 3);
  const auto rate_of = [&](const std::string& name) {
    for (const LinkLoad& load : loads) {
      if (load.name == name) return load.rate_bytes_per_s;
    }
    return 0.0;
  };
  CHECK(rate_of("node0/nic0/up") == mixed.cluster.fabric.nic_nominal.value);
  CHECK(rate_of("node2/nic0/up") == mixed.cluster.other_nodes[0].nic_nominal.value);
  CHECK(rate_of("node2/pcie7->cpu1") > 0);
}

TEST_CASE("the topology view draws nodes, devices and loaded links") {
  const Topology topology = selene();
  const auto loaded = loaded_with_links(topology);
  TopologyWidget widget;
  widget.resize(1100, 800);
  widget.set_topology(&topology, loaded.get());
  const QImage picture = widget.grab().toImage();
  CHECK(picture.save(QStringLiteral(STAGECRAFT_BINARY_DIR "/timeline-topology.png")));
  widget.set_range(0, 1e-3);
  widget.set_topology(&topology, nullptr);
  CHECK(widget.grab().toImage() != picture);
  widget.set_topology(nullptr, nullptr);
  widget.grab();
}

TEST_CASE("the devices of a node stand clear of each other in a low view, which scrolls") {
  const Topology topology = selene();
  const auto loaded = loaded_with_links(topology);
  const TopologyPicture picture = make_topology_picture(topology, loaded.get(), 0, loaded->trace.end_s);
  REQUIRE(picture.nodes.size() > 1);
  TopologyWidget widget;
  widget.set_topology(&topology, loaded.get());
  for (const QSize size : {QSize(480, 260), QSize(760, 480), QSize(1400, 860)}) {
    widget.resize(size);
    widget.grab();
    QTest::qWait(5);
    const QWidget* const canvas = widget.findChild<QScrollArea*>()->widget();
    CAPTURE(size.width());
    CHECK(canvas->height() >= least_height(picture, canvas->width()));
    CHECK(widget.findChild<QScrollArea*>()->horizontalScrollBar()->maximum() == 0);
  }
  CHECK(least_height(picture, 300) > least_height(picture, 1400));
}

TEST_CASE("for a picture of a given size the nodes are drawn smaller where they have no room, not scrolled") {
  const Topology topology = selene();
  const auto loaded = loaded_with_links(topology);
  const TopologyPicture picture = make_topology_picture(topology, loaded.get(), 0, loaded->trace.end_s);
  CHECK(scale_that_fits(picture, {1400, 860}) == 1);
  for (const QSize size : {QSize(480, 180), QSize(300, 300), QSize(160, 90)}) {
    const double scale = scale_that_fits(picture, size);
    CAPTURE(size.width(), scale);
    CHECK(scale < 1);
    CHECK(scale * least_height(picture, static_cast<int>(size.width() / scale)) <= size.height());
  }
  TopologyWidget widget;
  widget.set_topology(&topology, loaded.get());
  const QScrollBar* const bar = widget.findChild<QScrollArea*>()->verticalScrollBar();
  widget.resize(480, 260);
  widget.show();
  QTest::qWait(5);
  CHECK(bar->maximum() > 0);
  widget.show_whole();
  QTest::qWait(20);
  CHECK(bar->maximum() == 0);
}

TEST_CASE("two traces are shown rank by rank, with one zoom, and aligned at an operation") {
  const auto a = pipeline_trace(4, 8);
  Trace slower = pipeline(4, 8);
  for (Span& span : slower.spans) {
    span.begin_s *= 1.25;
    span.end_s *= 1.25;
    span.tensor_s *= 1.25;
  }
  for (CounterSeries& series : slower.counters) {
    for (double& time : series.time_s) time *= 1.25;
  }
  slower.end_s *= 1.25;
  slower.step_end_s[0] *= 1.25;
  slower.kind = "measured";
  const auto b = make_loaded_trace(std::move(slower), "measured");

  CompareWidget widget;
  widget.resize(1200, 900);
  QSignalSpy compared(&widget, &CompareWidget::compared);
  widget.set_traces(a.get(), b.get());
  widget.show();
  REQUIRE((compared.count() > 0 || compared.wait(20'000)));
  const TimelineView& view = widget.timeline().view();
  REQUIRE(view.sources.size() == 2);
  CHECK(view.rows[0].label == "A rank 0");
  CHECK(view.sources[1].shift_s == 0);
  CHECK(widget.grab().save(QStringLiteral(STAGECRAFT_BINARY_DIR "/timeline-compare.png")));

  REQUIRE(widget.timeline().find("3B7"));
  widget.align_at_selection();
  const auto begin_of = [&](std::size_t source) {
    for (const Span& span : view.sources[source].loaded->trace.spans) {
      if (short_name(view.sources[source].loaded->trace, span) == "3B7") return span.begin_s;
    }
    return 0.0;
  };
  CHECK(begin_of(1) + view.sources[1].shift_s == Approx(begin_of(0)));
  widget.align_at_step_start();
  CHECK(view.sources[1].shift_s == 0);
  widget.set_traces(a.get(), nullptr);
  widget.set_traces(nullptr, nullptr);
}

TEST_CASE("a comparison of nothing says how to come by a second trace") {
  CompareWidget widget;
  const auto says = [&](const QString& words) {
    for (const QLabel* const label : widget.findChildren<QLabel*>())
      if (label->text().contains(words)) return true;
    return false;
  };
  CHECK(says("pin it (Ctrl+B)"));
  const auto a = pipeline_trace(2, 2);
  widget.set_traces(a.get(), nullptr);
  CHECK(says("Pin (Ctrl+B) and change a setting"));
  CHECK(says("measured trace"));
}

TEST_CASE("files that are no traces are refused in words") {
  CHECK_THROWS_WITH(read_any_trace("/nowhere/at.all"), Catch::Contains("No such file"));
  CHECK_THROWS_WITH(read_any_trace(STAGECRAFT_SOURCE_DIR "/README.md"), Catch::Contains("another kind of file"));
  CHECK_THROWS_WITH(read_any_trace(STAGECRAFT_SOURCE_DIR "/CMakePresets.json"), Catch::Contains("traceEvents"));
  CHECK_THROWS_WITH(read_any_trace(STAGECRAFT_SOURCE_DIR "/docs"), Catch::Contains("folder without traces"));
}

TEST_CASE("profiles of several ranks are laid over each other by their clocks") {
  const QTemporaryDir folder;
  const auto write = [&](int rank, const char* base, double ts_us) {
    std::ofstream(folder.filePath(QString("rank%1.json").arg(rank)).toStdString())
        << R"({"distributedInfo": {"rank": )" << rank << R"(}, "baseTimeNanoseconds": )" << base
        << R"(, "traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "PP:)" << rank << R"(F0", "ts": )"
        << ts_us << R"(, "dur": 5}]})";
  };
  write(0, "1727379824000000000", 100);
  write(1, "1727379824000001000", 119);  // a base 1 us later: 20 us after the other
  const Trace trace = read_any_trace(folder.path().toStdString());
  REQUIRE(trace.spans.size() == 2);
  CHECK(trace.spans[0].begin_s == 0);
  CHECK(trace.spans[1].begin_s == Approx(20e-6));
  CHECK(trace.end_s == Approx(25e-6));
  write(1, "1727379824000000000", 100);
  write(2, "1727379824000000000", 100);
  CHECK(read_any_trace(folder.path().toStdString()).ranks.size() == 3);
}
