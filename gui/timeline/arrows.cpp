#include <algorithm>
#include <set>

#include "gui/timeline/paint_overlays.hpp"

namespace stagecraft::gui {
namespace {

constexpr std::size_t most_arrows = 64;
constexpr int most_hops = 4;

class Search {
 public:
  Search(const TimelineView& view, const SliceRef& slice)
      : view_(view), source_(slice.source), loaded_(*view.sources[slice.source].loaded) {}

  void follow(std::uint32_t span, bool forward, int hops) {
    const Predecessors& edges = forward ? loaded_.after : loaded_.before;
    for (const std::uint32_t next : predecessors_of(edges, span)) {
      if (arrows.size() >= most_arrows || !seen_.insert({span, next}).second) continue;
      const std::size_t here = row_of(span), there = row_of(next);
      const bool message = !is_compute(loaded_.trace.spans[next].kind);
      if (here != there && here != view_.rows.size() && there != view_.rows.size()) {
        arrows.push_back(forward ? Arrow{span, next} : Arrow{next, span});
      }
      if (message && hops < most_hops) follow(next, forward, hops + 1);
    }
  }

  std::vector<Arrow> arrows;

 private:
  std::size_t row_of(std::uint32_t span) const {
    const std::uint32_t lane = loaded_.row_of_span[span];
    return lane == no_span ? view_.rows.size() : visible_row(view_, source_, lane);
  }

  const TimelineView& view_;
  std::uint8_t source_;
  const LoadedTrace& loaded_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
};

}  // namespace

std::vector<Arrow> arrows_of(const TimelineView& view, const SliceRef& slice) {
  const std::uint32_t span = view.sources[slice.source].loaded->lanes[slice.lane].slices.span(slice.slice);
  if (span == no_span) return {};
  Search search(view, slice);
  search.follow(span, false, 0);
  search.follow(span, true, 0);
  return search.arrows;
}

}  // namespace stagecraft::gui
