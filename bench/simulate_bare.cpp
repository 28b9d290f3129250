#ifdef STAGECRAFT_HAVE_SIM

#include "simulate_bare.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <xbt/log.h>

#include <chrono>
#include <cstdlib>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>

namespace stagecraft::bench {
namespace {

namespace sg = simgrid::s4u;
namespace kernel = simgrid::kernel;

using Route = std::vector<kernel::resource::StandardLinkImpl*>;

/// One pair of hosts; the route is that of the flow about to start.
class CurrentRoute final : public kernel::routing::NetZoneImpl {
 public:
  explicit CurrentRoute(const std::string& name) : NetZoneImpl(name) {}
  const Route* current = nullptr;

 private:
  void get_local_route(const kernel::routing::NetPoint* /*from*/, const kernel::routing::NetPoint* /*to*/,
                       kernel::routing::Route* route, double* /*latency*/) override {
    if (current != nullptr) route->link_list_.insert(route->link_list_.end(), current->begin(), current->end());
  }
  void get_graph(const s_xbt_graph_t* /*graph*/, std::map<std::string, xbt_node_t, std::less<>>* /*nodes*/,
                 std::map<std::string, xbt_edge_t, std::less<>>* /*edges*/) override {}
};

struct BareLoop {
  const Playbook& book;
  const Graph& graph;
  CurrentRoute* zone = nullptr;
  sg::Host *from = nullptr, *to = nullptr;
  std::vector<Route> routes;
  std::vector<std::uint32_t> waiting, move;
  std::vector<sg::CommPtr> comms, ended;  // comms: by operation
  struct Tag {
    BareLoop* loop;
    std::uint32_t node;
  };
  std::vector<Tag> tags;
  std::uint64_t done = 0;

  void build() {
    zone = new CurrentRoute("cluster");
    sg::NetZone* world = zone->get_iface();
    from = world->create_host("from", 1.0);
    to = world->create_host("to", 1.0);
    Route links;
    for (std::size_t i = 0; i < book.links.size(); ++i)
      links.push_back(
          world->create_link("link" + std::to_string(i), book.links[i].rate)->set_latency(0)->seal()->get_impl());
    for (std::size_t i = 0; i < book.paths.size(); ++i) {
      Route& route = routes.emplace_back();
      route.push_back(world->create_link("cap" + std::to_string(i), book.paths[i].cap)
                          ->set_latency(0)
                          ->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE)
                          ->seal()
                          ->get_impl());
      for (const Crossing& crossing : book.paths[i].crossings)
        route.insert(route.end(), static_cast<std::size_t>(crossing.crossings),
                     links[static_cast<std::size_t>(crossing.link)]);
    }
    world->seal();
  }

  const Work& work(std::uint32_t node) const { return book.works[book.work_of[node]]; }

  void begin(std::uint32_t node) {
    const Move& now = book.moves[work(node).first_move + move[node]];
    kernel::timer::Timer::set(sg::Engine::get_clock() + now.seconds, [this, node] { timed(node); });
  }
  void timed(std::uint32_t node) {
    const Move& now = book.moves[work(node).first_move + move[node]];
    if (now.path < 0) return moved(node);
    zone->current = &routes[static_cast<std::size_t>(now.path)];
    comms[node] = sg::Comm::sendto_init(from, to);
    comms[node]->set_payload_size(now.units);
    comms[node]->set_data(&tags[node]);
    comms[node]->start();
  }
  void moved(std::uint32_t node) {
    if (++move[node] < work(node).moves) return begin(node);
    ++done;
    for (const std::uint32_t next : successors_of(graph, node)) {
      if (--waiting[next] == 0) begin(next);
    }
  }

  double run() {
    sg::Engine engine("bare");
    xbt_log_control_set("root.thresh:warning");
    for (const char* setting : {"network/model:CM02", "network/TCP-gamma:1e30", "network/crosstraffic:0",
                                "network/loopback-bw:2e12", "maxmin/precision:1e-9"})
      engine.set_config(setting);
    sg::Activity::on_completion_cb([](sg::Activity const& activity) {
      auto* const tag = activity.get_data<Tag>();
      if (tag == nullptr) return;
      BareLoop& loop = *tag->loop;
      loop.ended.clear();
      loop.ended.push_back(std::move(loop.comms[tag->node]));
      loop.moved(tag->node);
    });
    build();
    engine.seal_platform();
    const std::uint32_t nodes = node_count(graph);
    waiting.assign(graph.predecessor_counts.begin(), graph.predecessor_counts.end());
    move.assign(nodes, 0);
    comms.resize(nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) tags.push_back({this, node});
    std::vector<std::uint32_t> first;
    for (std::uint32_t node = 0; node < nodes; ++node) {
      if (waiting[node] == 0) first.push_back(node);
    }
    for (const std::uint32_t node : first) begin(node);
    engine.run();
    if (done != nodes) throw std::logic_error("the bare loop did not end");
    return sg::Engine::get_clock();
  }
};

}  // namespace

BareRun play_bare(const Playbook& book, const Graph& graph) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    BareLoop loop{book, graph, nullptr, nullptr, nullptr, {}, {}, {}, {}, {}, {}, 0};
    const auto begin = std::chrono::steady_clock::now();
    BareRun run;
    run.end_s = loop.run();
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ::_exit(::write(ends[1], &run, sizeof run) == sizeof run ? 0 : 1);
  }
  BareRun run;
  const bool whole = ::read(ends[0], &run, sizeof run) == sizeof run;
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  if (!whole || status != 0) throw std::runtime_error("the bare loop failed");
  return run;
}

}  // namespace stagecraft::bench

#endif
