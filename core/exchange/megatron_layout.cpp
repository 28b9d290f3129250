#include "exchange/megatron_layout.hpp"

#include <algorithm>
#include <cctype>

namespace stagecraft {
namespace {

constexpr std::size_t longest = 1 << 16;  // letters

/// What stands from `at` on, up to the end or the parenthesis that closes it, with every "*n" written out.
std::optional<std::string> written_out(std::string_view text, std::size_t& at, int depth) {
  std::string out;
  while (at < text.size() && text[at] != ')') {
    std::string element(1, text[at++]);
    if (element == "(") {
      if (depth == 8) return std::nullopt;
      const auto inner = written_out(text, at, depth + 1);
      if (!inner || at == text.size()) return std::nullopt;
      ++at;  // the closing one
      element = *inner;
    } else if (element == "," || element == " ") {
      continue;
    } else if (std::string_view("EtmL|").find(element[0]) == std::string_view::npos) {
      return std::nullopt;
    }
    std::size_t times = 1;
    if (at < text.size() && text[at] == '*') {
      times = 0;
      while (++at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0 && times <= longest) {
        times = 10 * times + static_cast<std::size_t>(text[at] - '0');
      }
    }
    if (out.size() + times * element.size() > longest) return std::nullopt;
    for (std::size_t i = 0; i < times; ++i) out += element;
  }
  return out;
}

}  // namespace

std::optional<std::vector<std::int64_t>> blocks_of_layout(std::string_view text) {
  std::size_t at = 0;
  const auto letters = written_out(text, at, 0);
  if (!letters || at != text.size()) return std::nullopt;
  const auto count = [&](char letter) { return std::count(letters->begin(), letters->end(), letter); };
  const bool ends = letters->size() > 1 && letters->front() == 'E' && letters->back() == 'L';
  if (!ends || count('E') != 1 || count('L') != 1) return std::nullopt;
  std::vector<std::int64_t> blocks(1, 0);
  for (const char letter : *letters) {
    if (letter == '|') blocks.push_back(0);
    if (letter == 't' || letter == 'm') ++blocks.back();
  }
  return blocks;
}

}  // namespace stagecraft
