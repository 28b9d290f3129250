#include "gui/timeline/zoom_stack.hpp"

namespace stagecraft::gui {
namespace {

constexpr std::size_t most_places = 200;

}  // namespace

void ZoomStack::go(Place place) {
  if (place == current()) return;
  places_.resize(at_ + 1);
  places_.push_back(std::move(place));
  if (places_.size() > most_places) places_.erase(places_.begin());
  at_ = places_.size() - 1;
}

void ZoomStack::replace(Place place) {
  places_[at_] = std::move(place);
}

const Place& ZoomStack::back() {
  if (can_go_back()) --at_;
  return current();
}

const Place& ZoomStack::forward() {
  if (can_go_forward()) ++at_;
  return current();
}

}  // namespace stagecraft::gui
