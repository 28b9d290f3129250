#pragma once
// Where the user has looked, back and forward: ranges of time together with what was filtered and folded.

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace stagecraft::gui {

/// What makes up a place in a timeline.
struct Place {
  double begin_s = 0, end_s = 1;
  std::string filter;            // "" shows every row; see matches() in rows.hpp
  std::set<std::string> folded;  // ids of folded rows
  friend bool operator==(const Place&, const Place&) = default;
};

/// Undo and redo of navigation. Small moves in one gesture replace the current place instead of adding one.
class ZoomStack {
 public:
  explicit ZoomStack(Place start = {}) : places_{std::move(start)} {}
  const Place& current() const { return places_[at_]; }
  void go(Place place);       // drops what lies forward
  void replace(Place place);  // the same gesture goes on
  bool can_go_back() const { return at_ > 0; }
  bool can_go_forward() const { return at_ + 1 < places_.size(); }
  const Place& back();
  const Place& forward();

 private:
  std::vector<Place> places_;  // never empty, at most 200
  std::size_t at_ = 0;
};

}  // namespace stagecraft::gui
