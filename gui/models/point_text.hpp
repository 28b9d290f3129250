#pragma once
// A scenario with the values of one point of a sweep in it.

#include <string>
#include <string_view>
#include <vector>

namespace stagecraft::gui {

/// The text with "PATH=VALUE" written into it as --set would lay it over: VALUE is JSON or else a word, an object is
/// merged member by member. Every other byte stays. Throws InputError if the text is no JSON object.
std::string with_override(std::string_view text, std::string_view path, std::string_view value);

/// The same with all values of a point. Precondition: as many values as paths.
std::string with_overrides(std::string text, const std::vector<std::string>& paths,
                           const std::vector<std::string>& values);

/// "/parallel/tensor" -> "parallel.tensor", as the command line writes it.
std::string dotted(std::string_view pointer);

}  // namespace stagecraft::gui
