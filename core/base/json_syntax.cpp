#include "base/json_syntax.hpp"

#include <fmt/format.h>

namespace stagecraft {
namespace {

constexpr std::string_view blank = " \t\r\n";
constexpr std::string_view structural = "{}[],:";

bool ends_word(char letter) {
  return blank.find(letter) != std::string_view::npos || structural.find(letter) != std::string_view::npos;
}

/// The run of letters around an offset that JSON would have to read as one, or one structural character.
std::string_view word_at(std::string_view text, std::size_t& offset) {
  constexpr std::size_t longest = 40;
  if (structural.find(text[offset]) != std::string_view::npos) return text.substr(offset, 1);
  while (offset > 0 && !ends_word(text[offset - 1])) --offset;
  std::size_t end = offset + 1;
  while (end < text.size() && !ends_word(text[end])) ++end;
  std::string_view word = text.substr(offset, end - offset);
  if (word.size() <= longest) return word;
  std::size_t cut = longest;
  while (cut > 0 && (static_cast<unsigned char>(word[cut]) & 0xC0u) == 0x80u) --cut;  // not inside a UTF-8 sequence
  return word.substr(0, cut);
}

std::string_view before(std::string_view text, std::size_t offset) {
  const std::size_t last = text.substr(0, offset).find_last_not_of(blank);
  return last == std::string_view::npos ? "" : text.substr(last, 1);
}

/// What would be right in place of the word.
std::string expected_for(std::string_view word, std::string_view previous) {
  if ((word == "}" || word == "]") && previous == ",") return "a value: JSON has no comma before a closing bracket";
  if (word.starts_with("//") || word.starts_with("/*") || word.starts_with("#")) return "JSON, which has no comments";
  if (word.starts_with("'")) return "double quotes around keys and strings";
  if (previous == "{" || previous == ",") return "a key or value as JSON writes it (RFC 8259)";
  if (previous == ":") return "a value: a number, a string in double quotes, true, false, null, a list or an object";
  return "valid JSON (RFC 8259)";
}

}  // namespace

SyntaxError explain_syntax_error(std::string_view text, std::size_t read, const std::string& token,
                                 std::string_view why) {
  const auto says = [&](std::string_view part) { return why.find(part) != std::string_view::npos; };
  std::size_t offset = std::min(read > 0 ? read - 1 : 0, text.size());
  if (says("number overflow")) {
    while (offset > 0 && (offset == text.size() || ends_word(text[offset]))) --offset;
    word_at(text, offset);
    return {offset, fmt::format("the number {}", token.substr(0, 40)), "a number of at most 1.8e308"};
  }
  if (says("UTF-8")) return {offset, "text that is not UTF-8", "text in UTF-8"};
  if (const std::size_t at = why.find("invalid string: "); at != std::string_view::npos) {
    std::string_view reason = why.substr(at + std::string_view("invalid string: ").size());
    reason = reason.substr(0, reason.find(';'));
    if (reason.starts_with("missing closing quote")) return {offset, "a string without its closing quote", "a string"};
    return {offset, fmt::format("a string that is broken here: {}", reason), "a string as JSON writes it"};
  }
  if (says("unexpected end of input") || offset >= text.size())
    return {offset, "the end of the text", "the rest of a JSON document"};
  const bool cut_short = says("invalid literal") || says("invalid number");
  if (cut_short && offset > 0 && ends_word(text[offset]) && !ends_word(text[offset - 1])) --offset;
  const std::string_view word = word_at(text, offset);
  const std::string_view previous = before(text, offset);
  const bool after_the_end = says("expected end of input");
  return {offset, fmt::format("'{}'", word),
          after_the_end ? "the end of the text: the document is complete" : expected_for(word, previous)};
}

}  // namespace stagecraft
