#include "sim/flow_network.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace stagecraft;

namespace {

struct Start {
  double at = 0;
  std::int32_t path = 0;
  std::uint64_t units = 1;
};

/// Starts flows at given times and notes when they end.
class Script final : public FlowListener {
 public:
  Script(FlowNetwork& network, std::vector<Start> starts) : network_(network), starts_(std::move(starts)) {}
  void on_flow_end(std::uint64_t flow) override { ends[flow] = network_.now(); }
  void on_alarm() override {
    while (next_ < starts_.size() && starts_[next_].at <= network_.now()) {
      network_.start_flow(starts_[next_].path, starts_[next_].units, next_);
      ++next_;
    }
    if (next_ < starts_.size()) network_.set_alarm(starts_[next_].at);
  }
  std::map<std::uint64_t, double> ends;

 private:
  FlowNetwork& network_;
  std::vector<Start> starts_;
  std::size_t next_ = 0;
};

}  // namespace

TEST_CASE("a lone flow takes its bytes over the bandwidth", "[sim]") {
  FlowNetwork network;
  const std::int32_t link = network.add_shared_link("nic", 24e9);
  const std::int32_t path = network.add_path(1e12, {{link, 1}});
  Script script(network, {{0, path, 12'000'000'000}});
  network.run(script);
  CHECK(script.ends.at(0) == Approx(0.5).epsilon(1e-9));
}

TEST_CASE("a flow is capped by its path alone", "[sim]") {
  FlowNetwork network;
  const std::int32_t link = network.add_shared_link("nic", 24e9);
  const std::int32_t path = network.add_path(6e9, {{link, 1}});
  Script script(network, {{0, path, 12'000'000'000}});
  network.run(script);
  CHECK(script.ends.at(0) == Approx(2).epsilon(1e-9));
}

TEST_CASE("two flows on one link share it, and what one leaves the other takes", "[sim]") {
  FlowNetwork network;
  const std::int32_t link = network.add_shared_link("nic", 10);
  const std::int32_t first = network.add_path(1e6, {{link, 1}});
  const std::int32_t second = network.add_path(1e6, {{link, 1}});
  // 5 each until t = 4, when the first 20 are through; the other has 20 of 40 left at 10.
  Script script(network, {{0, first, 20}, {0, second, 40}});
  network.run(script);
  CHECK(script.ends.at(0) == Approx(4).epsilon(1e-9));
  CHECK(script.ends.at(1) == Approx(6).epsilon(1e-9));
}

TEST_CASE("a capped flow leaves the rest of the link to others", "[sim]") {
  FlowNetwork network;
  const std::int32_t link = network.add_shared_link("nic", 10);
  const std::int32_t slow = network.add_path(2, {{link, 1}});
  const std::int32_t fast = network.add_path(1e6, {{link, 1}});
  Script script(network, {{0, slow, 20}, {0, fast, 80}});
  network.run(script);
  CHECK(script.ends.at(0) == Approx(10).epsilon(1e-9));
  CHECK(script.ends.at(1) == Approx(10).epsilon(1e-9));
}

TEST_CASE("a route that lists a link three times takes it three times", "[sim]") {
  FlowNetwork network;
  const std::int32_t link = network.add_shared_link("nic", 100);
  const std::int32_t one = network.add_path(1e6, {{link, 1}});
  const std::int32_t three = network.add_path(1e6, {{link, 3}});
  // Equal rates x with x + 3x = 100: both move 25 a second.
  Script script(network, {{0, one, 1000}, {0, three, 1000}});
  network.run(script);
  CHECK(script.ends.at(0) == Approx(40).epsilon(1e-9));
  CHECK(script.ends.at(1) == Approx(40).epsilon(1e-9));
}

TEST_CASE("a flow that comes later slows one that runs", "[sim]") {
  FlowNetwork network;
  const std::int32_t link = network.add_shared_link("nic", 10);
  const std::int32_t first = network.add_path(1e6, {{link, 1}});
  const std::int32_t second = network.add_path(1e6, {{link, 1}});
  // 30 alone until t = 3, then 5 each: the other 20 of the first take until t = 7; the second has 5 left by then.
  Script script(network, {{0, first, 50}, {3, second, 25}});
  network.run(script);
  CHECK(script.ends.at(0) == Approx(7).epsilon(1e-9));
  CHECK(script.ends.at(1) == Approx(7.5).epsilon(1e-9));
}

TEST_CASE("every simulation of a process starts at zero", "[sim]") {
  for (int round = 0; round < 20; ++round) {
    FlowNetwork network;
    const std::int32_t link = network.add_shared_link("nic", 10);
    const std::int32_t path = network.add_path(1e6, {{link, 1}});
    Script script(network, {{1, path, 20}});
    network.run(script);
    CHECK(script.ends.at(0) == Approx(3).epsilon(1e-9));
  }
}
