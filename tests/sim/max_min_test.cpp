// Random flows over random links against max-min sharing worked out by progressive filling.

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "hand_graph.hpp"

using namespace stagecraft;
using namespace stagecraft::samples;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Rates of the flows that run: all rise together until a link is full or a cap is reached; those concerned stay there.
std::vector<double> max_min_rates(const Playbook& book, const std::vector<bool>& runs) {
  const std::size_t flows = book.paths.size();
  std::vector<double> rates(flows, 0), left;
  for (const Bottleneck& link : book.links) left.push_back(link.rate);
  std::vector<bool> fixed(flows);
  for (std::size_t f = 0; f < flows; ++f) fixed[f] = !runs[f];
  double level = 0;
  while (std::find(fixed.begin(), fixed.end(), false) != fixed.end()) {
    std::vector<double> weight(book.links.size(), 0);
    for (std::size_t f = 0; f < flows; ++f) {
      for (const Crossing& c : book.paths[f].crossings) {
        if (!fixed[f]) weight[static_cast<std::size_t>(c.link)] += c.crossings;
      }
    }
    double step = never;
    for (std::size_t l = 0; l < weight.size(); ++l) {
      if (weight[l] > 0) step = std::min(step, left[l] / weight[l]);
    }
    for (std::size_t f = 0; f < flows; ++f) {
      if (!fixed[f]) step = std::min(step, book.paths[f].cap - level);
    }
    level += step;
    for (std::size_t l = 0; l < weight.size(); ++l) left[l] -= step * weight[l];
    for (std::size_t f = 0; f < flows; ++f) {
      if (fixed[f]) continue;
      rates[f] = level;
      bool stays = level >= book.paths[f].cap * (1 - 1e-12);
      for (const Crossing& c : book.paths[f].crossings) {
        const auto l = static_cast<std::size_t>(c.link);
        stays = stays || left[l] <= 1e-9 * book.links[l].rate;
      }
      fixed[f] = stays;
    }
  }
  return rates;
}

std::vector<double> fluid_ends(const Playbook& book) {
  const std::size_t flows = book.moves.size();
  std::vector<double> left, ends(flows, never);
  for (const Move& move : book.moves) left.push_back(static_cast<double>(move.units));
  double now = 0;
  for (;;) {
    std::vector<bool> runs(flows);
    double next = never;
    for (std::size_t f = 0; f < flows; ++f) {
      runs[f] = ends[f] == never && book.moves[f].seconds <= now;
      if (ends[f] == never && !runs[f]) next = std::min(next, book.moves[f].seconds);
    }
    const std::vector<double> rates = max_min_rates(book, runs);
    for (std::size_t f = 0; f < flows; ++f) {
      if (runs[f]) next = std::min(next, now + left[f] / rates[f]);
    }
    if (next == never) return ends;
    for (std::size_t f = 0; f < flows; ++f) {
      if (!runs[f]) continue;
      const bool over = now + left[f] / rates[f] <= next * (1 + 1e-12);
      left[f] -= rates[f] * (next - now);
      if (over) ends[f] = next;
    }
    now = next;
  }
}

int below(std::mt19937& random, int bound) {
  return static_cast<int>(random() % static_cast<unsigned>(bound));
}

/// Flow f starts at a random time on path f over some of the links; no cap exceeds what the path has alone.
Playbook random_book(std::mt19937& random) {
  Playbook book = book_of({});
  const int links = 1 + below(random, 5), flows = 1 + below(random, 8);
  for (int l = 0; l < links; ++l) book.links.push_back({LinkId(l), 1e9 * (1 + below(random, 20)), 1});
  for (int f = 0; f < flows; ++f) {
    FlowPath path;
    path.cap = 1e9 * (1 + below(random, 10));
    for (int l = 0; l < links; ++l) {
      if (below(random, 2) == 0) continue;
      const int crossings = 1 + below(random, 3);
      path.crossings.push_back({l, crossings});
      path.cap = std::min(path.cap, book.links[static_cast<std::size_t>(l)].rate / crossings);
    }
    book.paths.push_back(path);
    const auto units = static_cast<std::uint64_t>(1 + below(random, 10)) * 1'000'000'000;
    book.moves.push_back({0.5 * below(random, 4), f, units});
    book.works.push_back({static_cast<std::uint32_t>(f), 1, 0, 0, false});
    book.work_of.push_back(static_cast<std::uint32_t>(f));
  }
  return book;
}

}  // namespace

TEST_CASE("flows share links max-min fairly, whoever comes and goes", "[sim]") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const Playbook book = random_book(random);
    const auto flows = static_cast<std::uint32_t>(book.moves.size());
    const PlayedTimes times = play_alone(book, graph_of(flows, {}));
    const std::vector<double> expected = fluid_ends(book);
    for (std::uint32_t f = 0; f < flows; ++f) {
      INFO("round " << round << ", flow " << f);
      CHECK(times.end_s[f] == Approx(expected[f]).epsilon(1e-5));
    }
  }
}
