#pragma once
// Texts line by line.

#include <algorithm>
#include <string_view>

namespace stagecraft {

/// Calls `visit(line, number)` for every line, without its end, counted from 1.
template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace stagecraft
