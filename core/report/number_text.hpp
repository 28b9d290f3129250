#pragma once
// Numbers as people read them.

#include <cstdint>
#include <string>

namespace stagecraft {

std::string grouped(double value);                   // "264,113": rounded, thousands apart
std::string gibibytes(double bytes);                 // "61.3 GiB"
std::string percent(double fraction);                // "41.2 %"
std::string signed_percent(double fraction);         // "+3.1 %"
std::string count_of_parameters(double parameters);  // "145.6B"
std::string duration(double seconds);                // "17.92 s", "431.0 ms", "12.5 us"

/// A bar of `width` cells, filled to `fraction` in eighths of a cell.
std::string bar(double fraction, int width);

/// Characters that a terminal shows, for padding of UTF-8 text (no combining or wide characters in our texts).
std::size_t columns_of(const std::string& text);
std::string padded(const std::string& text, std::size_t columns);  // text first
std::string right_aligned(const std::string& text, std::size_t columns);

/// `text` broken at blanks into lines of at most `columns`, each line after the first indented by `indent`.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent);

}  // namespace stagecraft
